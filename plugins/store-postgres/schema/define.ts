/** Builds the definitions of SQL functions. */

/** SQLSTATEs that the functions raise; class GW is not used by PostgreSQL. */
export const raised = { fenced: "GW001", leaseLost: "GW002", notRunning: "GW003", tooNew: "GW004" } as const;

/**
 * A function that the store calls, with its signature as in `CREATE FUNCTION`. It fixes the search path, so that its
 * names mean the tables of its own schema on any connection, also behind a pooler. A migration that replaces a function
 * keeps its signature, because nodes of an earlier version call it.
 */
export function entry(signature: string, body: string): string {
  return (
    `CREATE OR REPLACE FUNCTION ${signature} LANGUAGE plpgsql SET search_path FROM CURRENT AS ` +
    `$function$\n${body}\n$function$;\n`
  );
}

/** A function that only other functions call. It uses their search path. */
export function part(signature: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${signature} LANGUAGE plpgsql AS $function$\n${body}\n$function$;\n`;
}

/**
 * Lets the transaction commit without waiting for the disk. A crash of the server may undo it, which repeats work but
 * loses no event.
 */
export const withoutFlush = "PERFORM set_config('synchronous_commit', 'off', true);";
