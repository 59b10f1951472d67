/**
 * Voice messages of people become text before anything else is decided about them: whether they mention the bot, and
 * whether they are a command. Access is decided first, because a download and a transcription cost something.
 */
import { rm } from "node:fs/promises";
import { EngineError, type Inbound, type InboundMedia, reasonOf } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { type UnheardSpeech, unheardSpeech, type Visit } from "../../stations/index.ts";
import { hasTypedWords, isOnlyVoice, isSound } from "../conversation/sounds.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import { createAwayNotices } from "./away-notices.ts";
import { soundsOf, withWords } from "./heard-message.ts";
import { createHearing, type Heard, type HearingOptions } from "./hearing.ts";
import { createOnceOnNodes } from "./once-on-nodes.ts";
import { createSpeaking, type Speaking, type SpeakingOptions, type SpeechNote } from "./speaking.ts";
import { createSpeechEngines, type SpeechEnginesOptions } from "./speech-engines.ts";
import { createTranscribing } from "./transcribing.ts";
import { createTranscripts } from "./transcripts.ts";

export interface SpeechAt {
  readonly visit: Visit;
  readonly signal: AbortSignal;
  readonly note: (note: SpeechNote) => void;
  /** Waits for what may take long; meanwhile the attempt does not count. */
  readonly waitFor: <T>(waited: Promise<T>) => Promise<T>;
  /** Shows an admitted person that something happens, until the returned function is called. */
  readonly showWork?: () => () => void;
}

export interface Speech extends Speaking {
  /**
   * The message with the words of its voice messages. Unchanged if its sender is not admitted, or if nothing was
   * understood; the visit then has the reason. Rejects with the reason of the signal, and if the state cannot be read.
   */
  hear(inbound: Inbound, at: SpeechAt): Promise<Inbound>;
  /** The same with what was recorded, for messages that are read once more; nothing is fetched or paid. */
  recall(inbound: Inbound): Promise<Inbound>;
  /** Removes what was recorded of a message, and the files in which it was said. */
  forget(inbound: Inbound): Promise<void>;
  /** The message with what is said in the files of the message that it replies to. Never rejects. */
  hearAnswered(inbound: Inbound, asker: Asker, signal: AbortSignal): Promise<Inbound>;
}

export interface SpeechOptions
  extends Omit<SpeechEnginesOptions, "spending">,
    Omit<HearingOptions, "config" | "spending" | "transcripts" | "transcribing" | "once">,
    Pick<SpeakingOptions, "stateDirectory"> {
  readonly spending: Pick<Spending, "admit" | "meter">;
  readonly store: Pick<Store, "get" | "set" | "delete" | "update" | "nodes">;
  readonly notifyOwner: (text: string, key: string) => Promise<boolean>;
  readonly log: Pick<PluginLog, "warn">;
  /** Whether the message would be admitted if its words named the bot. */
  readonly isAdmitted: (inbound: Inbound) => Promise<boolean>;
  /** For whom a model is called. */
  readonly askerOf: (inbound: Inbound) => Asker;
}

const inSeconds = (seconds: number): string => `${Math.max(1, Math.round(seconds))} s`;

function noteOf({ by, text, seconds, ms }: Heard): SpeechNote {
  const how = seconds === undefined ? "recorded before" : `${inSeconds(seconds)} of sound, transcribed in ${ms} ms`;
  return text === ""
    ? { code: "speech_empty", detail: `${by} found no words: ${how}` }
    : { code: "speech_heard", detail: `${text.length} characters by ${by}: ${how}` };
}

function unheardOf(error: EngineError): UnheardSpeech {
  return { code: error.reason, error };
}

export function createSpeech(options: SpeechOptions): Speech {
  const { log } = options;
  const notices = createAwayNotices(options);
  const engines = createSpeechEngines(options);
  const transcribing = createTranscribing({
    engines,
    onWorks: (name) => void notices.works(name),
    onAway: (name, detail) => void notices.away(name, detail),
  });
  const once = createOnceOnNodes(options.store);
  const transcripts = createTranscripts(options);
  const hearing = createHearing({ ...options, transcripts, transcribing, once });

  /** Listens to one file. What was not understood is in the visit. */
  async function listen(media: InboundMedia, inbound: Inbound, asker: Asker, at: SpeechAt): Promise<Heard | undefined> {
    try {
      const heard = await hearing.hear(media, inbound, { asker, signal: at.signal, waitFor: at.waitFor });
      at.note(noteOf(heard));
      if (heard.text === "" && isOnlyVoice(inbound)) at.visit.set(unheardSpeech, { code: "speech_empty" });
      return heard;
    } catch (thrown) {
      if (at.signal.aborted) throw at.signal.reason;
      if (!(thrown instanceof EngineError)) throw thrown;
      const { path } = thrown as { readonly path?: string };
      at.note({ code: thrown.reason, detail: reasonOf(thrown), path, hint: thrown.hint });
      if (isOnlyVoice(inbound)) at.visit.set(unheardSpeech, unheardOf(thrown));
      return undefined;
    }
  }

  async function listenToAll(sounds: readonly InboundMedia[], inbound: Inbound, at: SpeechAt): Promise<Inbound> {
    const asker = options.askerOf(inbound);
    const words = new Map<InboundMedia, string>();
    const files = new Map<InboundMedia, InboundMedia>();
    for (const sound of sounds) {
      const { text = "", media = sound } = (await listen(sound, inbound, asker, at)) ?? {};
      words.set(media, text);
      files.set(sound, media);
    }
    const found = withWords({ ...inbound, media: inbound.media.map((media) => files.get(media) ?? media) }, words);
    // Some of its voice messages were understood, so there is something to answer.
    if (found.spoken === true) at.visit.set(unheardSpeech, undefined);
    return found;
  }

  return {
    ...createSpeaking({ ...options, engines, notices }),
    async hear(inbound, at) {
      const sounds = soundsOf(inbound);
      if (sounds.length === 0 || !(await options.isAdmitted(inbound))) return inbound;
      const shown = at.showWork?.();
      try {
        return await listenToAll(sounds, inbound, at);
      } finally {
        shown?.();
      }
    },
    async recall(inbound) {
      const words = new Map<InboundMedia, string>();
      for (const media of soundsOf(inbound)) words.set(media, (await hearing.recorded(media, inbound))?.text ?? "");
      return withWords(inbound, words);
    },
    async forget(inbound) {
      for (const media of soundsOf(inbound)) {
        const path = await transcripts.remove(transcripts.keyOf(media, inbound));
        if (path !== undefined) await rm(path, { force: true });
      }
    },
    async hearAnswered(inbound, asker, signal) {
      const { replyTo } = inbound;
      if (replyTo?.media === undefined) return inbound;
      // What the bot has spoken itself has its words as the caption.
      const hasWords = hasTypedWords({ text: replyTo.text ?? "" });
      const media: InboundMedia[] = [];
      for (const file of replyTo.media) {
        if (!isSound(file) || file.path === undefined || (file.kind === "voice" && hasWords)) {
          media.push(file);
          continue;
        }
        try {
          const { text } = await hearing.hear(file, inbound, { asker, signal, waitFor: (waited) => waited });
          media.push(text === "" ? file : { ...file, transcript: text });
        } catch (error) {
          // The agent reads that there is a file; what failed is for the operator.
          if (!signal.aborted) log.warn({ error: reasonOf(error) }, "a voice message that is replied to");
          media.push(file);
        }
      }
      return { ...inbound, replyTo: { ...replyTo, media } };
    },
  };
}
