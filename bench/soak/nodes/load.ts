/**
 * The events of the soak: people who write to the bot, and programs that call a hook of whichever node answers. Each
 * event has a mark, which its answer repeats, and the events of a lane are numbered.
 */
import type { Platform } from "../../../plugins/playground/platform/index.ts";
import { sentence } from "../people.ts";
import type { Random } from "../random.ts";
import { hookToken, type SoakNode, sessionPrefix } from "./node.ts";

export const people = Array.from({ length: 40 }, (_, index) => 1_001 + index);
/** The people to whom the hooks' runs are sent, so that each chat shows the answers of one lane. */
const recipients = Array.from({ length: 40 }, (_, index) => 2_001 + index);
export const everyone = [...people, ...recipients];

/** So many events of a lane wait for their answers. */
const mostOpen = 4;
/** A lane goes on without an answer after this time: an event that failed gets none. */
const patienceMs = 20_000;
const answerMs = 3_000;
const avoidMs = 2_000;

export interface SentEvent {
  /** A text that occurs in this event and in its answer only. */
  readonly mark: string;
  readonly lane: string;
  readonly way: "webhook" | "chat";
  /** The chat in which it is answered. */
  readonly chat: number;
  /** Event ids of all answers of the hook, also to repetitions. */
  readonly acknowledged: string[];
}

export interface Load {
  readonly sent: readonly SentEvent[];
  /** The number of calls that got no answer, or an error, and were sent again. */
  repeated(): number;
  /** Causes a heartbeat, which takes what waits for one. */
  wake(): Promise<void>;
  /** Resolves when all events are sent and acknowledged. */
  readonly done: Promise<void>;
}

export interface LoadOptions {
  readonly platform: Platform;
  readonly nodes: readonly SoakNode[];
  readonly random: Random;
  readonly count: number;
  /** Resolves when the next event may be sent, of which `sent` have been. */
  readonly pace: (sent: number) => Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The mark in a text or in its JSON, if there is one. */
export const markIn = (text: string): string | undefined => /(?:\b|\\n)([hp]\d+n\d+)\b/.exec(text)?.[1];

export function startLoad({ platform, nodes, random, count, pace }: LoadOptions): Load {
  const sent: SentEvent[] = [];
  const answered = new Set<string>();
  const avoided = new Map<SoakNode, number>();
  let begun = 0;
  let repeated = 0;

  platform.on((event) => {
    if (event.type !== "message" || !event.message.from.is_bot) return;
    const mark = markIn(event.message.text ?? "");
    if (mark !== undefined) answered.add(mark);
  });

  /** Any node, but rather not one that has just failed to answer. */
  function anyNode(): SoakNode {
    const now = performance.now();
    const good = nodes.filter((node) => (avoided.get(node) ?? 0) < now);
    return random.pick(good.length > 0 ? good : nodes);
  }

  /** Calls a hook until a node accepts the call. Resolves with the id of the event. */
  async function call(endpoint: string, key: string, body: object): Promise<string> {
    for (;;) {
      const node = anyNode();
      try {
        const answer = await fetch(`${node.url}/hooks/${endpoint}`, {
          method: "POST",
          headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", "idempotency-key": key },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(answerMs),
        });
        const { eventId } = (await answer.json()) as { readonly eventId?: string };
        if (answer.ok && eventId !== undefined) return eventId;
        if (answer.status < 500 && answer.status !== 429) throw new Refused(`${key} was refused: ${answer.status}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
      }
      repeated += 1;
      avoided.set(node, performance.now() + avoidMs);
      await sleep(50);
    }
  }

  async function send(event: SentEvent): Promise<void> {
    const text = `${event.mark} ${sentence(random, 1, 5)}`;
    sent.push(event);
    if (event.way === "chat") platform.act.say(event.chat, event.chat, text);
    else {
      const run = {
        message: text,
        name: "Soak",
        channel: "botchat",
        to: String(event.chat),
        deliver: true,
        wakeMode: "next-heartbeat",
      };
      const body = { ...run, sessionKey: `${sessionPrefix}${event.lane}` };
      // Some repeat the call after its answer, on any node, as if that had been lost.
      for (let times = random.chance(0.1) ? 2 : 1; times > 0; times -= 1)
        event.acknowledged.push(await call("agent", event.mark, body));
    }
  }

  async function runLane(lane: string, way: SentEvent["way"], chat: number): Promise<void> {
    let open: { readonly mark: string; readonly until: number }[] = [];
    for (let index = 0; ; index += 1) {
      await sleep(random.between(0, 300));
      for (;;) {
        open = open.filter(({ mark, until }) => !answered.has(mark) && until > performance.now());
        if (open.length < mostOpen) break;
        await sleep(50);
      }
      await pace(begun);
      if (begun >= count) return;
      begun += 1;
      const mark = `${lane}n${index}`;
      open.push({ mark, until: performance.now() + patienceMs });
      await send({ mark, lane, way, chat, acknowledged: [] });
    }
  }

  const lanes = [
    ...people.map((person, index) => runLane(`p${index}`, "chat", person)),
    ...recipients.map((person, index) => runLane(`h${index}`, "webhook", person)),
  ];
  return {
    sent,
    repeated: () => repeated,
    wake: async () => void (await call("wake", "soak-wake", { text: "the soak is over", mode: "now" })),
    done: Promise.all(lanes).then(() => {}),
  };
}

class Refused extends Error {}

/** The bot may write only to people who have written to it. */
export function greet(platform: Platform): void {
  for (const person of recipients) platform.act.say(person, person, "/whoami");
}
