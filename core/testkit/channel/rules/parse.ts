/** Rules about reading the platform's events. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { findCode, type Json, reasonOf } from "../../../contract/index.ts";
import { type CompleteInbound, inboundProblem } from "../../../host/index.ts";
import { type Bench, isMessage, shown } from "../bench.ts";
import { frozen, junkLike } from "../junk.ts";
import type { Rule } from "../rule.ts";

/** An earlier time is probably seconds instead of milliseconds, a later one microseconds. */
const earliestMs = Date.UTC(2000, 0);
const latestMs = Date.UTC(2100, 0);

function messageOf(bench: Pick<Bench, "parse">, raw: Json): CompleteInbound {
  const parsed = bench.parse(structuredClone(raw));
  if (!isMessage(parsed)) throw new Error(`parse returns ${shown(parsed)} for the message ${shown(raw)}.`);
  return parsed;
}

async function isTotal({ parse, fixtures }: Bench): Promise<void> {
  const known = [...fixtures.messages.map(({ raw }) => raw), ...fixtures.own];
  for (const raw of junkLike(known)) {
    let parsed: unknown;
    try {
      parsed = parse(raw);
    } catch (error) {
      throw new Error(
        `parse throws on ${shown(raw)}: ${reasonOf(error)}. Return undefined for an event that is not a message.`,
        {
          cause: error,
        },
      );
    }
    const problem = parsed === undefined ? undefined : inboundProblem(parsed);
    if (problem !== undefined) throw new Error(`parse returns an invalid value for ${shown(raw)}: ${problem}.`);
  }
}

async function readsMessages(bench: Bench): Promise<void> {
  const { fixtures } = bench;
  if (fixtures.messages.length === 0)
    throw new Error("The contract requires at least one message in fixtures.messages.");
  for (const { raw, expect: wanted } of fixtures.messages) expect(messageOf(bench, raw)).toMatchObject(wanted);
  if (bench.capabilities.threads && fixtures.messages.every(({ expect: { chat } }) => chat?.thread === undefined))
    throw new Error(
      "The capability threads is declared, so fixtures.messages must contain a message whose chat has a thread.",
    );
}

async function isPure({ parse, fixtures }: Bench): Promise<void> {
  for (const { raw } of fixtures.messages) {
    const copy = frozen(structuredClone(raw));
    let once: unknown;
    try {
      once = parse(copy);
    } catch (error) {
      throw new Error(`parse modifies the event: ${reasonOf(error)}. The gateway may parse the same event again.`, {
        cause: error,
      });
    }
    const again = parse(JSON.parse(JSON.stringify(raw)));
    if (!isDeepStrictEqual(once, again))
      throw new Error(
        `parse returns ${shown(once)} and then ${shown(again)} for the same event. The result must depend ` +
          "only on the event.",
      );
  }
}

async function survivesJson(bench: Bench): Promise<void> {
  for (const { raw } of bench.fixtures.messages) {
    const inbound = messageOf(bench, raw);
    const stored: unknown = JSON.parse(JSON.stringify(inbound));
    expect(stored, "the result of parse must be JSON").toEqual(inbound);
  }
}

async function timesAreMilliseconds(bench: Bench): Promise<void> {
  for (const { raw } of bench.fixtures.messages) {
    const { timestamp } = messageOf(bench, raw);
    const isTime = timestamp === 0 || (timestamp >= earliestMs && timestamp < latestMs);
    if (!isTime)
      throw new Error(
        `The timestamp ${timestamp} is not in epoch milliseconds. Convert it, or return 0 if there is none.`,
      );
  }
}

async function ownAreSilent({ parse, fixtures }: Bench): Promise<void> {
  for (const raw of fixtures.own) {
    const parsed = parse(structuredClone(raw));
    if (parsed === undefined || isMessage(parsed))
      throw new Error(
        `parse returns ${shown(parsed)} for an event of the bot itself, ${shown(raw)}. Return ` +
          '{ silent: "own_message" }; otherwise the bot would reply to itself.',
      );
    // A message only: the gateway stores a press or a reaction of the bot's, with its reason.
    if (parsed === null)
      throw new Error(
        `parse returns null for an event of the bot itself, ${shown(raw)}. Return { silent: "own_message" }, so that ` +
          "the gateway does not store what the bot has sent.",
      );
  }
}

async function explainsItsSilence({ parse, fixtures, definition }: Bench): Promise<void> {
  for (const raw of [...fixtures.messages.map((message) => message.raw), ...fixtures.own]) {
    const parsed = parse(structuredClone(raw));
    if (parsed === undefined || parsed === null || !("silent" in parsed)) continue;
    if (findCode(parsed.silent, { channel: definition.codes ?? {} }) === undefined)
      throw new Error(
        `parse is silent about ${shown(raw)} for the reason ${parsed.silent}, which is not in the channel's ` +
          `codes: \`why\` could not explain it.`,
      );
  }
}

async function namesAreNoIdentity(bench: Bench): Promise<void> {
  for (const [before, after] of bench.fixtures.renamed) {
    const [one, other] = [messageOf(bench, before), messageOf(bench, after)];
    if (one.sender.id !== other.sender.id)
      throw new Error(
        `sender.id is ${one.sender.id}, but ${other.sender.id} after a change of name. Use the platform's ` +
          "permanent id, because a name does not identify a sender.",
      );
    if (one.chat.id !== other.chat.id)
      throw new Error(
        `chat.id is ${one.chat.id}, but ${other.chat.id} after a change of name. Use the person's id in a ` +
          "direct chat, and keep the address to send to in account.store.",
      );
  }
}

async function knowsBots(bench: Bench): Promise<void> {
  const { messages, bots = [] } = bench.fixtures;
  for (const raw of bots) {
    if (messageOf(bench, raw).sender.isBot !== true)
      throw new Error(
        `The message of another bot ${shown(raw)} has a sender without isBot. Set it; otherwise two bots ` +
          "may reply to each other without end.",
      );
  }
  for (const { raw, expect: wanted } of messages) {
    if (messageOf(bench, raw).sender.isBot === true && wanted.sender?.isBot !== true)
      throw new Error(
        `The message ${shown(raw)} has the sender of a bot. Set isBot only for bots; otherwise a person gets no reply.`,
      );
  }
}

async function namesAreMentions(bench: Bench): Promise<void> {
  const { messages, bots = [] } = bench.fixtures;
  for (const raw of [...messages.map((message) => message.raw), ...bots]) {
    const { mention, mentionedByName } = messageOf(bench, raw);
    if (mentionedByName === true && !mention)
      throw new Error(
        `The text of ${shown(raw)} names the bot (mentionedByName), but the message has no mention. A name ` +
          "is a mention.",
      );
  }
}

/** Lists in lists: deeper than a recursive reader can follow. */
function deep(levels: number): Json {
  let value: Json = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

async function takesLargeEvents({ parse, fixtures }: Bench): Promise<void> {
  for (const { raw } of fixtures.messages) {
    for (const [what, extra] of [
      ["nested 20,000 levels deep", deep(20_000)],
      ["with a text of a million characters", "x ".repeat(500_000)],
    ] as const) {
      const event = typeof raw === "object" && raw !== null && !Array.isArray(raw) ? { ...raw, extra } : extra;
      try {
        parse(event);
      } catch (error) {
        throw new Error(`parse throws on an event ${what}: ${reasonOf(error)}. Read only the fields that you need.`, {
          cause: error,
        });
      }
    }
  }
}

/** A copy with a key `__proto__` of its own in each object, which an object literal cannot have, and JSON can. */
function poisoned(raw: Json): Json {
  if (Array.isArray(raw)) return raw.map(poisoned);
  if (typeof raw !== "object" || raw === null) return raw;
  const copy = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, poisoned(value)]));
  const value = { contractPollution: 1 };
  return Object.defineProperty(copy, "__proto__", { value, enumerable: true, configurable: true, writable: true });
}

async function keepsPrototypes({ parse, fixtures }: Bench): Promise<void> {
  const prototype = Object.prototype as { contractPollution?: unknown };
  for (const { raw } of fixtures.messages) {
    parse(poisoned(raw));
    const isPolluted = prototype.contractPollution !== undefined;
    delete prototype.contractPollution;
    if (isPolluted)
      throw new Error(
        "An event with the key __proto__ changes the prototype of all objects. Do not merge an event into an object.",
      );
  }
}

export const parseRules: readonly Rule[] = [
  { title: "parse > never throws, and returns what the host can use", alone: true, run: isTotal },
  { title: "parse > accepts events of any depth and length", run: takesLargeEvents },
  { title: "parse > leaves the prototypes of objects alone", alone: true, run: keepsPrototypes },
  { title: "parse > reads each message", run: readsMessages },
  { title: "parse > is pure", run: isPure },
  { title: "parse > returns JSON", run: survivesJson },
  { title: "parse > times are epoch milliseconds", run: timesAreMilliseconds },
  { title: "parse > events of the bot itself are silent", run: ownAreSilent },
  { title: "parse > each reason to stay silent is in codes", run: explainsItsSilence },
  { title: "parse > a person keeps their id when their name changes", run: namesAreNoIdentity },
  { title: "parse > bots are known as bots, and people are not", run: knowsBots },
  { title: "parse > what names the bot has a mention", run: namesAreMentions },
];
