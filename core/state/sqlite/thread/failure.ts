/** Translates database errors to errors of the error table. */
import { HostError, reasonOf } from "../../../contract/index.ts";
import { damaged } from "../database/examine.ts";
import type { Failure } from "./protocol.ts";

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html. */
const sqlite = { error: 1, ioError: 10, corrupt: 11, full: 13, notDatabase: 26 } as const;
/** Codes that mean a broken file. `error` is included because statements report it if their table is missing. */
const broken: ReadonlySet<number | undefined> = new Set([sqlite.error, sqlite.corrupt, sqlite.notDatabase]);

/** Codes after which the whole transaction is in doubt, not only the statement. */
const fatal: ReadonlySet<number> = new Set([5, 6, 7, 8, sqlite.ioError, 11, sqlite.full, 14, 26]);

function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Whether an error ends the whole transaction rather than one operation. */
export function endsTransaction(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && fatal.has(code);
}

/** Translates an error of a read from a broken file; other errors are returned unchanged. */
export function readError(error: unknown, directory: string): unknown {
  const code = resultCode(error);
  return code === sqlite.corrupt || code === sqlite.notDatabase ? damaged(directory, reasonOf(error)) : error;
}

/** Translates an error of a write. A full disk can cause either of two codes, depending on where it occurs. */
export function diskError(error: unknown, directory: string): HostError {
  if (error instanceof HostError) return error;
  const code = resultCode(error);
  const reason = reasonOf(error);
  if (code === sqlite.full || code === sqlite.ioError) return new HostError("state_full", { reason }, { cause: error });
  if (broken.has(code)) return damaged(directory, reason);
  return new HostError("state_unreadable", { directory, reason }, { cause: error });
}

export function packFailure(error: unknown): Failure {
  if (error instanceof HostError) return { code: error.code, details: error.details, message: error.message };
  return { code: null, details: {}, message: error instanceof Error ? error.message : String(error) };
}

export function unpackFailure({ code, details, message }: Failure): Error {
  return code === null ? new Error(message) : new HostError(code, details);
}
