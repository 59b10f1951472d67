/** What people write while the bot is away. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, shown } from "../bench.ts";
import { openConversation } from "../conversation.ts";
import type { Rule } from "../rule.ts";

/** The gateway ends, the person writes, and a gateway with the same state starts. */
async function delivers(bench: Bench): Promise<void> {
  const { platform } = bench;
  const directory = await mkdtemp(join(tmpdir(), "gateway-contract-"));
  const heard: string[] = [];
  const open = () =>
    openConversation(bench, {
      directory,
      answer({ inbound }) {
        heard.push(inbound.text);
        return `heard: ${inbound.text}`;
      },
    });
  const hears = (text: string, situation: string) =>
    bench.until(
      () => heard.some((one) => one.includes(text)),
      () => `${situation} ${shown(text)}, and the agent has read ${shown(heard)}.`,
    );
  try {
    const before = await open();
    await platform.write("before the absence");
    await hears("before the absence", "The person wrote");
    await before.close();
    const texts = ["first while away", "second while away"];
    for (const text of texts) await platform.write(text);
    await using _after = await open();
    await hears("second while away", "While the bot was away, the person wrote");
    await realWait(200);
    const read = heard.flatMap((one) => texts.filter((text) => one.includes(text)));
    if (read.join() !== texts.join() || heard.filter((one) => one.includes("before the absence")).length > 1)
      throw new Error(
        `capabilities.keepsWhileAway is declared. While the bot was away, the person wrote ${shown(texts)}, and the ` +
          `agent has read ${shown(heard)}. Each message must arrive once, in its order.`,
      );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export const absenceRules: readonly Rule[] = [
  {
    title: "absence > what a person writes while the bot is away arrives once, in order",
    capability: "keepsWhileAway",
    needs: [],
    run: delivers,
  },
];
