/** One stream over real HTTP: a person asks for it, and the platform's calls are recorded until it has ended. */
import { cleanText, detectEntities, trimText } from "../../../../plugins/playground/platform/entities.ts";
import type { Message, Mishap, Platform } from "../../../../plugins/playground/platform/index.ts";
import { parseHtml } from "../../../../plugins/playground/platform/parse.ts";
import { createRandom } from "../../random.ts";
import type { End } from "../../state.ts";
import type { ChatCall, Outcome } from "../judge.ts";
import { messagesOf, openRoom } from "../room.ts";
import { drawStream, type Stream } from "../stream.ts";
import { mishapOf } from "./mishaps.ts";
import { botOf, groupOf, personOf } from "./stage.ts";

export interface LiveStream {
  readonly seed: number;
  readonly stream: Stream;
  readonly chat: number;
  /** When it was requested. */
  readonly began: number;
  /** The platform has carried out a call, or refused it. */
  note(call: ChatCall): void;
  /** The fault of the next call. */
  mishap(method: string): Mishap | undefined;
  /** The result once the stream has ended. */
  outcome(end: End): Outcome;
}

export function askFor(
  seed: number,
  { position, platform }: { readonly position: number; readonly platform: Platform },
): LiveStream {
  const random = createRandom(seed);
  const stream = drawStream(random);
  const { text, group, mode, messageLimit, faulty } = stream;
  const bot = botOf(stream);
  const chat = group ? groupOf(position) : personOf(position);
  const calls: ChatCall[] = [];
  const began = performance.now();
  const asked = platform.act.say(personOf(position), chat, group ? `@${bot} stream ${seed}` : `stream ${seed}`, {
    bot,
  });
  const settings = { streamMode: mode, textChunkLimit: messageLimit };

  /** Everything that the bot has written there since. */
  function standing(): readonly Message[] {
    const rooms = [...platform.world.rooms.values()].filter((room) => room.chat.id === chat);
    return rooms
      .flatMap(({ messages }) => [...messages.values()])
      .filter(({ from, message_id: id }) => from.username === bot && id > asked.message_id);
  }

  return {
    seed,
    stream,
    chat,
    began,
    note: (call) => void calls.push(call),
    mishap: (method) => mishapOf(method, { random, faulty }),
    outcome: ({ outcome, reason, unheard }) => ({
      calls: withSenders(calls, unheard),
      // A failed reply is followed by an apology.
      shown: standing()
        .filter(({ text = "" }) => outcome !== "failed" || !text.startsWith("I sent you an answer"))
        .map(({ text = "", entities = [] }) => JSON.stringify([text, entities])),
      wanted: messagesOf(text, openRoom({ chat: String(chat), settings })).map((html) => {
        const { text, entities } = detectEntities(trimText(parseHtml(cleanText(html), () => undefined)));
        return JSON.stringify([text, entities]);
      }),
      failure: outcome === "failed" ? reason : undefined,
      tookMs: performance.now() - began,
    }),
  };
}

/** The outbox sends after the preview and counts its own unanswered sends; the others were the preview's. */
function withSenders(calls: readonly ChatCall[], unheard: number): readonly ChatCall[] {
  const silent = calls.filter(
    ({ method, fate }) => method === "sendMessage" && (fate === "unknown" || fate === "unanswered"),
  );
  const previews = new Set(silent.slice(0, Math.max(0, silent.length - unheard)));
  return calls.map((call) => ({ ...call, by: previews.has(call) ? "preview" : "outbox" }));
}
