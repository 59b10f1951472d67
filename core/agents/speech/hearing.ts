/**
 * Listens to one sound file for a person who was admitted: fetches it, checks its length and the budget, and has it
 * transcribed, unless an earlier attempt has recorded what was said.
 */
import { EngineError, type Inbound, type InboundMedia, reasonOf } from "../../contract/index.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import { listenersOf } from "../turn/hearing-models.ts";
import type { OnceOnNodes } from "./once-on-nodes.ts";
import { estimatedSeconds, soundSeconds } from "./sound-length.ts";
import type { Sound } from "./speech-engines.ts";
import type { TranscribeAt, Transcribed, Transcribing } from "./transcribing.ts";
import type { Transcripts } from "./transcripts.ts";

const mostMb = 25;
const mostBytes = mostMb * 1_048_576;
const mostMinutes = 10;

/** Types of sound files, and of films, in which some platforms put voice messages. */
const soundTypes = /^(?:audio\/|video\/(?:mp4|webm|ogg)$)/;

/** What became of one sound file. */
export interface Heard extends Transcribed {
  /** The file, fetched; the one of the message if the words were recorded before. */
  readonly media: InboundMedia;
  /** Absent if they were recorded before. */
  readonly seconds?: number;
  readonly ms?: number;
}

export interface HearAt extends Omit<TranscribeAt, "asker"> {
  readonly asker: Asker;
}

export interface HearingOptions {
  readonly config: () => Parameters<typeof listenersOf>[0];
  /** Fetches a file of a message through its channel: with its path, or with the reason why not. Never rejects. */
  readonly fetchFile: (
    media: InboundMedia,
    at: { readonly inbound: Inbound; readonly usualMaxMb: number; readonly signal: AbortSignal },
  ) => Promise<InboundMedia>;
  readonly transcripts: Transcripts;
  readonly transcribing: Transcribing;
  readonly once: OnceOnNodes;
  readonly spending: Pick<Spending, "admit">;
  readonly now: () => number;
}

export interface Hearing {
  /** What an earlier attempt has recorded. */
  recorded(media: InboundMedia, inbound: Inbound): Promise<Transcribed | undefined>;
  /** Throws `EngineError` with a code of `speech_`, or `budget_exceeded`; or the reason of the signal. */
  hear(media: InboundMedia, inbound: Inbound, at: HearAt): Promise<Heard>;
}

const refused = (code: string, detail: string): EngineError => new EngineError(code, { detail });

/** Work that several callers wait for: it is given up when none of them waits any longer. */
interface Shared {
  readonly work: Promise<Heard>;
  readonly stop: AbortController;
  waiting: number;
}

export function createHearing(options: HearingOptions): Hearing {
  const { transcripts, transcribing, now } = options;
  const running = new Map<string, Shared>();

  async function fetched(media: InboundMedia, inbound: Inbound, signal: AbortSignal): Promise<InboundMedia> {
    if (media.size !== undefined && media.size > mostBytes)
      throw refused("speech_too_long", `the file is larger than ${mostMb} MB`);
    if (media.path !== undefined) return media;
    const found = await options.fetchFile(media, { inbound, usualMaxMb: mostMb, signal });
    if (found.path !== undefined) return found;
    throw refused("speech_not_fetched", found.unavailable ?? "its channel fetches no files");
  }

  async function soundOf({ path = "", mimeType = "", size = 0 }: InboundMedia): Promise<Sound> {
    if (!soundTypes.test(mimeType))
      throw refused("speech_failed", `the file is of the type ${mimeType || "unknown"}, which is not sound`);
    const measured = await soundSeconds(path);
    if ((measured ?? 0) > mostMinutes * 60)
      throw refused("speech_too_long", `it is longer than ${mostMinutes} minutes`);
    return { path, mimeType, seconds: measured ?? Math.min(estimatedSeconds(size), mostMinutes * 60) };
  }

  async function listen(key: string, media: InboundMedia, inbound: Inbound, at: HearAt): Promise<Heard> {
    const before = await transcripts.get(key);
    if (before !== undefined) return { ...before, media };
    await options.spending.admit({ ...at.asker, purpose: "transcribe" });
    const file = await fetched(media, inbound, at.signal);
    const sound = await soundOf(file).catch((thrown: unknown) => {
      throw thrown instanceof EngineError ? thrown : refused("speech_failed", reasonOf(thrown));
    });
    const began = now();
    const transcribed = await options.once(key, at.signal, {
      stored: () => transcripts.get(key),
      async work() {
        const words = await transcribing.transcribe(sound, listenersOf(options.config(), at.asker.agentId), at);
        await transcripts.set(key, words, file.path);
        return words;
      },
    });
    return { ...transcribed, media: file, seconds: sound.seconds, ms: now() - began };
  }

  return {
    recorded: (media, inbound) => transcripts.get(transcripts.keyOf(media, inbound)),
    async hear(media, inbound, at) {
      const key = transcripts.keyOf(media, inbound);
      const stop = new AbortController();
      const known = running.get(key);
      const shared = known ?? {
        work: listen(key, media, inbound, { ...at, signal: stop.signal }).finally(() => running.delete(key)),
        stop,
        waiting: 0,
      };
      if (known === undefined) running.set(key, shared);
      shared.waiting += 1;
      const { promise: left, reject } = Promise.withResolvers<never>();
      const leave = () => reject(at.signal.reason);
      if (at.signal.aborted) leave();
      else at.signal.addEventListener("abort", leave, { once: true });
      try {
        return await Promise.race([shared.work, left]);
      } finally {
        at.signal.removeEventListener("abort", leave);
        shared.waiting -= 1;
        if (shared.waiting === 0) shared.stop.abort(at.signal.reason);
      }
    },
  };
}
