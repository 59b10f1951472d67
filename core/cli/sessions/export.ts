/** `sessions export`: a session with everything that was said in it, as JSON. */

import { withAgent } from "../../reports/sessions.ts";
import type { CommandContext } from "../context.ts";
import { writeOut } from "../output/out-file.ts";
import { findSession } from "./find.ts";

export async function exportSession(
  { openState, terminal, now }: CommandContext,
  [wanted]: readonly [string],
  { out }: { readonly out?: string },
): Promise<number> {
  const store = await openState();
  try {
    const { messages: _current, ...session } = withAgent(await findSession(store, wanted));
    const conversations = [];
    for (let generation = 0; generation <= session.generation; generation += 1)
      conversations.push({
        generation,
        summaries: await store.summaries(session.key, { generation }),
        messages: await store.transcript(session.key, { generation }),
      });
    writeOut({ ...session, exportedAt: new Date(now()).toISOString(), conversations }, { out, terminal });
    if (out === undefined) return 0;
    const count = conversations.reduce((sum, { messages }) => sum + messages.length, 0);
    terminal.line(`${count} ${count === 1 ? "message" : "messages"} of ${session.key} are in ${out}.`);
    return 0;
  } finally {
    await store.close();
  }
}
