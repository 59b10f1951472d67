/** An engine for a gateway in a process of its own, as the text of its file. */

/** Notes the event of each turn of a mail; a turn that runs again after a kill is one of the same event. */
export const notingEngine = `
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineEngine } from "service-gateway/sdk";
export default defineEngine({
  id: "reader", version: "1.0.0", host: "^0.2.0",
  async *run(turn) {
    const subject = /Subject: (\\S+)/.exec(turn.inbound.text)?.[1];
    if (subject) appendFileSync(join(import.meta.dirname, "runs"), subject + " " + turn.inbound.id + "\\n");
    yield { type: "text", delta: "read" };
    yield { type: "done" };
  },
});
`;
