/** `sessions delete`: removes a conversation permanently. */
import { summaryNotesNamespace } from "../../agents/context/summary-notes.ts";
import { withdrawGrants } from "../../agents/tools/tool-grants.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import { findSession } from "./find.ts";

/** Namespaces of data stored for the next turn of a session, under its key. */
const waitingNamespaces = ["waiting-events", "group-context", summaryNotesNamespace] as const;

/** Requires the whole key, because a part of one could match another session later. */
export async function deleteSession(
  { openState, terminal }: CommandContext,
  [key]: readonly [string],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const store = await openState();
  try {
    const found = await findSession(store, key);
    if (found.key !== key) throw new HostError("session_not_whole", { session: key, key: found.key });
    const { messages } = await store.deleteSession(key);
    for (const namespace of waitingNamespaces) await store.delete(namespace, key);
    // A new conversation with this key has the same generation, and would find them.
    await withdrawGrants(store, ({ sessionKey }) => sessionKey === key);
    if (json === true) terminal.json({ deleted: key, messages });
    else {
      terminal.line(`${key} is deleted, with ${messages} ${messages === 1 ? "message" : "messages"}.`);
      terminal.line(
        `Kept: the events themselves, with their bodies, for up to seven days; \`${programCommand} privacy ` +
          `erase\` removes those of a person.`,
      );
    }
    return 0;
  } finally {
    await store.close();
  }
}
