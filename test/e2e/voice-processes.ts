/** A gateway in a process of its own, with servers of models that answer, transcribe and speak. */
import { say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { onTestFinished } from "../support/own-test.ts";
import { createSpeechServer } from "../support/speech-server.ts";
import { voiceNote } from "../support/voice-notes.ts";
import { openChannel, openPlatform, people } from "./room.ts";

export async function openVoicePlace({
  isolation,
  speech: settings = {},
  providers = {},
  reply,
}: {
  readonly isolation?: "worker";
  /** Of `models.speech`, beside or in place of a server that transcribes. */
  readonly speech?: object;
  /** More of them. */
  readonly providers?: object;
  /** What the agent always replies; default: what it was asked. */
  readonly reply?: string;
} = {}) {
  const [platform, model, speech] = await Promise.all([
    openPlatform(),
    createOpenAiServer(reply === undefined ? {} : { answer: () => say(reply) }),
    createSpeechServer(),
  ]);
  onTestFinished(() => model.close());
  const [ada = 0] = people(platform);
  const api = "openai-compatible";
  const config = {
    models: {
      providers: { local: { api, baseUrl: model.url }, ears: { api, baseUrl: speech.url }, ...providers },
      speech: { in: { model: "ears/small" }, ...settings },
      prices: { "ears/*": { minute: 0.6 } },
    },
    agents: { defaults: { engine: "ai", model: "local/small" } },
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    ...(isolation === undefined ? {} : { plugins: { entries: { ai: { isolation } } } }),
  };
  const speak = (bytes = voiceNote("friday")) => {
    const media = { kind: "voice" as const, bytes, fileName: "voice.ogg", mimeType: "audio/ogg" };
    platform.act.say(ada, ada, "", { media });
  };
  return { platform, model, speech, ada, config, speak };
}
