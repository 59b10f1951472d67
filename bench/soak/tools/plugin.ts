/** A plugin with two writing tools: `stamp`, and `danger`, which an owner is asked about. */
import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin, Type } from "../../../core/sdk/contract.ts";
import { journalRun, toolMs } from "./journal.ts";

const parameters = Type.Object({ word: Type.String(), text: Type.String() });

export default definePlugin({
  id: "soak-tools",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({ journal: Type.String() }),
  setup(host, { journal }) {
    for (const name of ["stamp", "danger"])
      host.tool({
        name,
        description: `The tool ${name}.`,
        parameters,
        needsApproval: name === "danger",
        async run({ args }) {
          journalRun(journal, name, args.word);
          await sleep(toolMs(name, args.word));
          return `${name} of ${args.word} is done`;
        },
      });
  },
});
