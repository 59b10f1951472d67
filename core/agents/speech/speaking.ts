/** Speaks replies: the text becomes a sound file beside it. Without one the text is sent alone. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Address, EngineError, findCode, type OutboundMedia, type Reply, reasonOf } from "../../contract/index.ts";
import { plainText, sniff } from "../../sdk/channel.ts";
import type { Asker } from "../spending/asker.ts";
import type { AwayNotices } from "./away-notices.ts";
import { runProgram } from "./program.ts";
import { nameOf, type Speaker, speakerOf, timeoutMsOf } from "./settings.ts";
import type { SpeechEngines } from "./speech-engines.ts";

const mostCharacters = 4_000;
const mostBytes = 20 * 1_048_576;
/** About how many characters are spoken in a second. */
const charactersPerSecond = 15;
const headBytes = 4_096;

/** What is noted for the trace of an event. */
export interface SpeechNote {
  readonly code: string;
  readonly detail?: string;
  /** The setting that decided. */
  readonly path?: string;
  readonly hint?: string;
}

export interface SpeakingOptions {
  readonly config: () => Parameters<typeof speakerOf>[0];
  readonly engines: SpeechEngines;
  readonly notices: AwayNotices;
  readonly stateDirectory: string;
  readonly now: () => number;
}

export interface SpeakAt {
  readonly asker: Asker;
  readonly to: Address;
  readonly signal: AbortSignal;
}

export interface Speaking {
  /** The reply with its voice message, or unchanged if it could not be spoken. Never rejects. */
  speak(reply: Reply, at: SpeakAt): Promise<{ readonly reply: Reply; readonly note: SpeechNote }>;
}

/** What is read aloud: no markup, no code and no addresses. */
export function spokenText(markdown: string): string {
  const words = plainText(markdown.replace(/^ {0,3}(```|~~~)[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm, ""));
  return words
    .replace(/\s*\(https?:\/\/[^\s)]+\)/g, "")
    .replace(/https?:\/\/\S+/g, "")
    .replace(/^---$/gm, "")
    .trim();
}

const failed = (detail: string, hint?: string): EngineError => new EngineError("speech_failed", { detail, hint });

export function createSpeaking({ config, engines, notices, stateDirectory, now }: SpeakingOptions): Speaking {
  async function byProgram(speaker: Speaker, text: string, place: string, signal: AbortSignal): Promise<Uint8Array> {
    const files = { text: `${place}.txt`, output: `${place}.part` };
    try {
      await writeFile(files.text, text, { mode: 0o600, flag: "wx" });
      const { command = [], memoryMb } = speaker;
      await runProgram({ command, files, timeoutMs: timeoutMsOf(speaker), memoryMb, signal });
      const written = await stat(files.output).catch(() => undefined);
      if (written === undefined) throw failed(`${nameOf(speaker)} wrote no file`, "It writes to the path {output}.");
      if (written.size > mostBytes) throw failed(`${nameOf(speaker)} wrote more than 20 MB`);
      return await readFile(files.output);
    } finally {
      await Promise.all([files.text, files.output].map((path) => rm(path, { force: true })));
    }
  }

  async function byModel(speaker: Speaker, text: string, { asker, signal }: SpeakAt): Promise<Uint8Array> {
    const late = AbortSignal.timeout(timeoutMsOf(speaker));
    const speech = { text, seconds: Math.ceil(text.length / charactersPerSecond) };
    const by = { ...speaker, model: speaker.model ?? "" };
    return await engines.speak(speech, by, { asker, signal: AbortSignal.any([signal, late]) }).catch((thrown) => {
      if (!late.aborted || signal.aborted) throw thrown;
      throw failed(`${nameOf(speaker)} did not answer within ${timeoutMsOf(speaker) / 1_000} s`);
    });
  }

  /** Resolves with the sound file, which is among the files of the recipient. */
  async function spoken(speaker: Speaker, text: string, at: SpeakAt): Promise<OutboundMedia> {
    const folder = join(stateDirectory, at.to.channel, at.to.account, "media");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const place = join(folder, randomBytes(16).toString("hex"));
    const data =
      speaker.model === undefined ? await byProgram(speaker, text, place, at.signal) : await byModel(speaker, text, at);
    if (data.byteLength === 0 || data.byteLength > mostBytes)
      throw failed(`${nameOf(speaker)} returned ${data.byteLength === 0 ? "an empty file" : "more than 20 MB"}`);
    const { mimeType, extension } = sniff(Buffer.from(data.subarray(0, headBytes)));
    if (!mimeType.startsWith("audio/")) throw failed(`${nameOf(speaker)} returned a file of the type ${mimeType}`);
    await writeFile(`${place}.new`, data, { mode: 0o600, flag: "wx" });
    await rename(`${place}.new`, `${place}.${extension}`);
    return { path: `${place}.${extension}`, as: "voice", fileName: `voice.${extension}` };
  }

  return {
    async speak(reply, at) {
      const speaker = speakerOf(config());
      const text = spokenText(reply.text);
      const alone = (detail: string, hint?: string) => ({ reply, note: { code: "speech_not_spoken", detail, hint } });
      if (speaker === undefined) return alone("nothing is set that speaks", "Set models.speech.out.");
      if (text === "") return alone("there are no words in it");
      if (reply.text.length > mostCharacters) return alone(`it has more than ${mostCharacters} characters`);
      const began = now();
      const name = nameOf(speaker);
      try {
        const file = await spoken(speaker, text, at);
        void notices.works(name);
        const detail = `${text.length} characters by ${name} in ${now() - began} ms`;
        return {
          reply: { ...reply, media: [...reply.media, file] },
          note: { code: "speech_spoken", detail },
        };
      } catch (thrown) {
        if (!at.signal.aborted && thrown instanceof EngineError && findCode(thrown.reason)?.away === "provider")
          void notices.away(name, reasonOf(thrown));
        return alone(reasonOf(thrown), thrown instanceof EngineError ? thrown.hint : undefined);
      }
    },
  };
}
