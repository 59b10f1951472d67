/**
 * Notes of the nodes to each other. They are rows of a table, which needs rights; a notification only asks to look
 * there.
 */
import type { NodeNote } from "service-gateway/sdk/store";
import type { Database } from "../pool.ts";

/** Notes that one look reads. The next one follows at once. */
const maxNotes = 200;
const forgetEveryMs = 30_000;

export interface Notes {
  send(note: NodeNote): Promise<void>;
  /**
   * Hands the notes of other nodes since the last look to `hear`, in their order. Resolves with whether there were any.
   */
  look(hear: (note: NodeNote) => void): Promise<boolean>;
}

interface NoteRow extends NodeNote {
  readonly id: number;
}

export function createNotes(database: Database, node: string): Notes {
  /** The last note that was read. Notes from before the first look are not for this start of the node. */
  let last: number | undefined;
  let forgottenAt = performance.now();

  /** Notes contain chat ids, so that they are removed also if no other note follows. */
  async function forget(): Promise<void> {
    if (performance.now() - forgottenAt < forgetEveryMs) return;
    forgottenAt = performance.now();
    await database.call("forget_notes", []);
  }

  async function readAll(hear: (note: NodeNote) => void): Promise<boolean> {
    let found = false;
    for (;;) {
      const rows: readonly NoteRow[] = await database.call<NoteRow>("read_notes", [node, last ?? 0, maxNotes]);
      for (const { id, topic, body } of rows) {
        // Moved on before the note is handled, so that one that cannot be handled is not read again.
        last = id;
        hear({ topic, body });
      }
      found ||= rows.length > 0;
      if (rows.length < maxNotes) return found;
    }
  }

  return {
    async send({ topic, body }) {
      await database.call("send_note", [node, topic, JSON.stringify(body)]);
    },
    async look(hear) {
      await forget();
      if (last !== undefined) return await readAll(hear);
      const [newest] = await database.query<{ id: number }>("SELECT coalesce(max(id), 0) AS id FROM @notes");
      last = newest?.id ?? 0;
      return false;
    },
  };
}
