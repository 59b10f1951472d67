/**
 * Conversations of 2,000 turns: what is refused, how long requests are, which messages they contain word for word, what
 * the model still knows, what the ledger has, and whether `/status` is right.
 */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tokensIn } from "../openai-server/counting.ts";
import type { ChatRequest } from "../openai-server/index.ts";
import { openCompactionRoom, words } from "./compaction-room.ts";

const turns = 2_000;
const systemPrompt = "Answer as the keeper of a lighthouse would.";
/** These are in each request, where half of the context has room for them. */
const lastTurns = 10;
const roomForThem = 32_000;

type Usage = readonly { readonly purpose: string; readonly calls: number; readonly inputTokens: number }[];

/** Texts of the last turns that a request does not contain word for word, and its instructions. */
function missingIn({ messages }: ChatRequest["body"], texts: readonly string[]): readonly string[] {
  const [instructions, ...rest] = messages.map(({ content }) => String(content));
  const sent = rest.slice(-2 * texts.length - 1).join("\n");
  const missing = texts.filter((text) => !sent.includes(text));
  return instructions?.includes(systemPrompt) === true ? missing : [systemPrompt, ...missing];
}

/** Resolves once no summary is written. */
async function quiet(asked: () => number): Promise<void> {
  for (let before = -1; before !== asked(); await delay(300)) before = asked();
}

/** Equal in every run. */
function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe.each([4_000, 32_000, 200_000])("a context of %i tokens", (room) => {
  test.each([
    ["set in the configuration", { small: { contextTokens: room } }, true],
    ["not set, and named by a refusal", undefined, true],
    ["not set, and named by none", undefined, false],
  ])(
    "that is %s",
    async (_, models, names) => {
      const draw = createDraw(room);
      const said: string[] = [];
      const missing: string[] = [];
      const { model, command, say, asked } = await openCompactionRoom({
        ...{ room, models, names },
        agent: { systemPrompt },
        reply: (body, facts) => {
          const texts = said.slice(room < roomForThem ? -1 : -2 * lastTurns);
          missing.push(...missingIn(body, texts));
          const last = String(body.messages.at(-1)?.content);
          const reply = last.includes("What do you know")
            ? `I know ${facts.join(" ")}`
            : `REPLY-${said.length} ${words(100 + Math.floor(draw() * 400)).trim()}`;
          said.push(reply);
          return reply;
        },
      });
      let status = { worst: 0, seen: 0 };
      for (let n = 1; n <= turns; n += 1) {
        const fact = n % 100 === 1 ? `FACT-${n}=blue ` : "";
        said.push(`TURN-${n} ${fact}${words(400 + Math.floor(draw() * 3_500)).trim()}`);
        const { end } = await say(said.at(-1) ?? "");
        expect(end.outcome).toBe("answered");
        if (n % 250 !== 0) continue;
        // A summary that is written at this moment would change the context between the two questions.
        await quiet(asked);
        const { text } = await say("/status");
        const [, used = "0"] = /Context: ([\d,]+) of/.exec(text) ?? [];
        await say("hi");
        const real = (model.answered.findLast(({ isSummary }) => !isSummary)?.tokens ?? 0) - tokensIn("hi") - 30;
        const off = Math.abs(Number(used.replaceAll(",", "")) - real) / real;
        status = { worst: Math.max(status.worst, off), seen: status.seen + 1 };
      }
      const { text } = await say("What do you know?");
      const longest = Math.max(...model.answered.map(({ tokens }) => tokens));
      expect(model.refused.length).toBeLessThanOrEqual(models === undefined && room < 128_000 ? 1 : 0);
      expect(longest).toBeLessThanOrEqual(room);
      expect(missing).toEqual([]);
      await quiet(asked);
      const summaries = model.answered.filter(({ isSummary }) => isSummary);
      const { usage } = JSON.parse(await command("usage", "--by", "purpose", "--json")) as { readonly usage: Usage };
      expect(usage.find(({ purpose }) => purpose === "compaction")).toMatchObject({
        calls: summaries.length,
        inputTokens: summaries.reduce((sum, { tokens }) => sum + tokens, 0),
      });
      expect(text).toContain("FACT-1=blue");
      expect(text).toContain(`FACT-${turns - 99}=blue`);
      expect(status.worst).toBeLessThan(0.1);
    },
    1_800_000,
  );
});
