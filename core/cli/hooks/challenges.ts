/** `hooks challenges`: values that platforms sent when they tested an address, for a person to copy. */
import { visibleLine } from "../../log/visible.ts";
import { readShownChallenges } from "../../webhooks/endpoint/shown-challenges.ts";
import type { CommandContext } from "../context.ts";
import { renderAgo } from "../output/times.ts";

const unsure = "Anyone could have sent this. Use it only if you started the test at that moment.";

export async function listChallenges(context: CommandContext, _: readonly [], options: { readonly json?: boolean }): Promise<number> {
  const store = await context.openState();
  try {
    const { terminal, now } = context;
    const challenges = await readShownChallenges(store, now());
    if (options.json === true) terminal.json({ challenges });
    else if (challenges.length === 0) terminal.line("In the last hour, no platform has sent a value to copy.");
    else {
      for (const { at, hook, client, verified, value } of challenges) {
        terminal.line(`${terminal.style("bold", visibleLine(hook))}, ${renderAgo(at, now())} from ${visibleLine(client)}`);
        terminal.line(`  ${visibleLine(value)}`);
        if (!verified) terminal.line(terminal.style("dim", `  ${unsure}`));
      }
    }
    return 0;
  } finally {
    await store.close();
  }
}
