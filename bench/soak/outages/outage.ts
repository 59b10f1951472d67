/**
 * A platform fails while replies are in progress, and recovers: what became of them, according to the chats and the
 * state.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineEngine } from "service-gateway/sdk";
import { createGateway } from "../../../core/gateway/gateway.ts";
import botchat from "../../../plugins/botchat/index.ts";
import { createPlatform, type Platform } from "../../../plugins/playground/platform/index.ts";
import { readState, type State } from "../state.ts";
import { type Attempt, type Fault, openRelay } from "./relay.ts";

export interface Outage {
  readonly fault: Fault;
  readonly seconds: number;
}

export interface OutageOptions extends Outage {
  readonly directory: string;
  /** Replies in progress when the outage begins. */
  readonly answers: number;
  /** Options of the affected account. */
  readonly channel: object;
  /** The replies must arrive within this time after the outage. */
  readonly withinMs: number;
}

export interface OutageResult extends Outage {
  /** One sentence each. */
  readonly violations: readonly string[];
  readonly lost: number;
  /** Replies that arrived twice. */
  readonly twice: number;
  /** Sends that were repeated because their outcome was unknown. */
  readonly repeated: number;
  /** From the end of the outage until the last reply arrived. */
  readonly recoveredMs: number;
  /** From the question to the reply of another account during the outage. */
  readonly otherAccountMs: number;
}

const token = (bot: number) => `${4_242 + bot}:outage-bot-token`;
/** Writes to the bot whose platform stays up. */
const otherPerson = 900;

const engine = defineEngine({
  id: "scripted",
  version: "1.0.0",
  host: "^0.2.0",
  async *run({ inbound }) {
    yield { type: "text", delta: `answer to ${inbound.text.trim()}` };
    yield { type: "done" };
  },
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** `false` if it did not become true in time. */
async function until(isTrue: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(20)) if (isTrue()) return true;
  return isTrue();
}

/** The bots' messages in the chat of a person. */
function textsTo(platform: Platform, person: number): readonly string[] {
  const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === person);
  return [...(room?.messages.values() ?? [])].filter(({ from }) => from?.is_bot === true).map(({ text }) => text ?? "");
}

export async function runOutage(options: OutageOptions): Promise<OutageResult> {
  const { fault, seconds, directory, answers, withinMs } = options;
  const persons = Array.from({ length: answers }, (_, index) => 1_001 + index);
  const platform = await createPlatform({
    bots: ["hit_bot", "other_bot"].map((username, index) => ({ token: token(index), username, name: username })),
    seed: { people: [...persons, otherPerson].map((id) => ({ id, first_name: `Person ${id}` })), groups: [] },
  });
  const relay = await openRelay(platform.url, fault);
  const gateway = await openGateway(options, { relay: relay.url, platform: platform.url });
  const ask = (what: string) => {
    for (const person of persons) platform.act.say(person, person, what, { bot: "hit_bot" });
  };
  const allSay = (text: string) => persons.every((person) => textsTo(platform, person).includes(text));
  try {
    const onset = relay.breakUnder(answers);
    ask("one");
    await onset;
    const began = performance.now();
    // Waits behind the first message in each chat.
    ask("two");
    platform.act.say(otherPerson, otherPerson, "three", { bot: "other_bot" });
    await until(() => textsTo(platform, otherPerson).includes("answer to three"), seconds * 1_000);
    const otherAccountMs = performance.now() - began;
    await sleep(seconds * 1_000 - otherAccountMs);
    await relay.mend();
    const mended = performance.now();
    await until(() => allSay("answer to one") && allSay("answer to two"), withinMs);
    const recoveredMs = performance.now() - mended;
    await gateway.close();
    const chats = persons.map((person) => ({ person, texts: textsTo(platform, person) }));
    const state = readState(join(directory, "state"));
    return {
      fault,
      seconds,
      recoveredMs,
      otherAccountMs,
      ...count(chats, relay.attempts),
      violations: [
        ...judge(chats, relay.attempts, state),
        ...(seconds >= 3 && otherAccountMs > seconds * 1_000
          ? ["another account waited for the end of the outage"]
          : []),
      ],
    };
  } finally {
    await gateway.close();
    await relay.close();
    await platform.close();
  }
}

async function openGateway(
  { directory, channel }: OutageOptions,
  urls: { readonly relay: string; readonly platform: string },
) {
  mkdirSync(directory, { recursive: true });
  const configFile = join(directory, "config.json");
  const config = {
    gateway: { port: 0, drainSeconds: 20 },
    state: { dir: join(directory, "state") },
    session: { dmScope: "per-account-channel-peer" },
    agents: { defaults: { engine: "scripted", heartbeat: { every: "0" } } },
    channels: {
      botchat: {
        dmPolicy: "open",
        allowFrom: ["*"],
        streamMode: "off",
        ackReaction: "",
        accounts: {
          hit: { botToken: token(0), apiRoot: urls.relay, ...channel },
          other: { botToken: token(1), apiRoot: urls.platform },
        },
      },
    },
  };
  writeFileSync(configFile, JSON.stringify(config));
  return await createGateway({ configFile, environment: {}, bundled: false, plugins: [botchat, engine] });
}

interface Chat {
  readonly person: number;
  readonly texts: readonly string[];
}

const copies = ({ texts }: Chat, text: string) => texts.filter((one) => one === text).length;
const texts = ["answer to one", "answer to two"];
/** The attempts of one message in one chat, in order. */
const triesOf = (attempts: readonly Attempt[], { person }: Chat, text: string) =>
  attempts.filter((attempt) => attempt.chat === String(person) && attempt.text === text);

function count(
  chats: readonly Chat[],
  attempts: readonly Attempt[],
): Pick<OutageResult, "lost" | "twice" | "repeated"> {
  const messages = chats.flatMap((chat) => texts.map((text) => ({ chat, text })));
  return {
    lost: messages.filter(({ chat, text }) => copies(chat, text) === 0).length,
    twice: messages.filter(({ chat, text }) => copies(chat, text) > 1).length,
    repeated: messages.filter(
      ({ chat, text }) => triesOf(attempts, chat, text).filter(({ reported }) => reported !== "not sent").length > 1,
    ).length,
  };
}

function judge(chats: readonly Chat[], attempts: readonly Attempt[], state: State): readonly string[] {
  const violations: string[] = [];
  for (const chat of chats) {
    const complain = (what: string) => void violations.push(`chat ${chat.person}: ${what}`);
    for (const text of texts) {
      const tries = triesOf(attempts, chat, text);
      const mayHaveArrived = tries.filter(({ reported }) => reported !== "not sent").length;
      if (copies(chat, text) === 0) complain(`"${text}" is lost after ${tries.length} tries`);
      if (mayHaveArrived > 2) complain(`"${text}" was sent ${mayHaveArrived} times with an unknown outcome`);
      if (tries.slice(0, -1).some(({ reported }) => reported === "sent"))
        complain(`"${text}" was sent again although it was known to be there`);
      const rows = state.outbox.filter((row) => row.chat === String(chat.person) && row.text === text);
      if (mayHaveArrived > 1 && !rows.some(({ doubts }) => doubts === 1))
        complain(`"${text}" was repeated, and no row says so`);
    }
    if (chat.texts.indexOf("answer to two") < chat.texts.lastIndexOf("answer to one"))
      complain(`the answers are in another order: ${chat.texts}`);
  }
  for (const unit of state.units.values())
    if (unit.outcome !== "answered") violations.push(`${unit.lane}: ${unit.outcome} ${unit.reason}`);
  return violations;
}
