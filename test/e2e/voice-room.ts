/** What the tests of voice messages share: a place whose people speak, and a server that transcribes and speaks. */
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import ai from "../../plugins/ai/index.ts";
import { createSpeechServer, type SpeechServer } from "../support/speech-server.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { type Conversation, type ConversationOptions, converse } from "./conversation.ts";

export interface SpeakingPlace extends Conversation {
  readonly speech: SpeechServer;
  /** Sends a voice message. */
  speak(from: number, to: number, what?: { readonly bytes?: Buffer; readonly caption?: string }): void;
  /** Codes of the decisions about the last event. */
  codes(): Promise<readonly string[]>;
  /** What the calls of models have cost, by their purpose. */
  usage(): Promise<readonly { readonly purpose?: string; readonly model: string; readonly usd: number }[]>;
}

export interface VoiceOptions extends ConversationOptions {
  /** `models.speech`; default: the server transcribes. */
  readonly settings?: object;
  readonly prices?: object;
  /** Beside the server that transcribes. */
  readonly providers?: object;
}

export const listening = { in: { model: "ears/small" } };

export async function converseAloud(options: VoiceOptions = {}): Promise<SpeakingPlace> {
  const { config = {}, settings = listening, prices = {}, providers = {}, ...others } = options;
  const speech = await createSpeechServer();
  const ears = { api: "openai-compatible", baseUrl: speech.url, apiKey: "sk-ears-0123456789" };
  const place = await converse({
    plugins: [ai],
    ...others,
    config: {
      models: { providers: { ...providers, ears }, speech: settings, prices },
      agents: { list: [{ id: "mark", name: "Mark" }] },
      ...config,
    },
  });
  let directory = "";
  return {
    ...place,
    speech,
    async start() {
      const started = await place.start();
      directory = started.stateDirectory;
      return started;
    },
    async usage() {
      const store = await openSqliteStore({ directory, now: Date.now });
      const report = await store.usage({ since: 0, by: "purpose" }).finally(() => store.close());
      return report
        .map(({ purpose, model, calls, usd }) => ({ purpose, model, calls, usd }))
        .toSorted((one, other) => String(one.purpose).localeCompare(String(other.purpose)));
    },
    speak(from, to, { bytes = voiceNote("friday"), caption = "" } = {}) {
      const media = { kind: "voice" as const, bytes, fileName: "voice.ogg", mimeType: "audio/ogg" };
      place.platform.act.say(from, to, caption, { media });
    },
    codes: async () => (await place.events()).at(-1)?.decisions.map(({ code }) => code) ?? [],
  };
}
