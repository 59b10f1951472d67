/** Models that listen to sound files: what they are sent, and how they write down what is said. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineProvider, EngineTurn } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { refuse, say } from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { voiceNote } from "../../support/voice-notes.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

const never = new AbortController().signal;
const { engine } = openEngine({ retries: 0 });

async function openServer(): Promise<OpenAiServer> {
  const server = await createOpenAiServer();
  onTestFinished(() => server.close());
  return server;
}

function fileOf(bytes: Buffer, mimeType: string) {
  const path = join(temporaryDirectory(), "voice");
  writeFileSync(path, bytes);
  return { kind: "voice" as const, ref: "r", path, mimeType };
}

const hearing = { models: { small: { audio: true } } };

function providers({ url }: OpenAiServer, more: Partial<EngineProvider> = hearing): EngineTurn["providers"] {
  return { local: { api: "openai-compatible", baseUrl: url, ...more } };
}

function ask(server: OpenAiServer, media: ReturnType<typeof fileOf>, more: Partial<EngineTurn> = {}) {
  const messages = [{ role: "user", text: "spoken words", media: [media] }] as const;
  return collect(engine.run(turnOf("look", { providers: providers(server), messages, ...more }), never));
}

const asked = (server: OpenAiServer) => server.requests.at(-1)?.body.messages.at(-1)?.content;
const unheard = [
  { type: "text", text: "spoken words" },
  { type: "text", text: "[a file of the type audio/ogg that you cannot see]" },
];

test.each([
  ["audio/ogg; codecs=opus", voiceNote("stop"), "ogg"],
  ["audio/mp4", Buffer.from("\0\0\0\x20ftypM4A "), "m4a"],
  ["audio/flac", Buffer.from("fLaC\0"), "flac"],
  ["audio/webm", Buffer.from("1a45dfa3", "hex"), "webm"],
  ["audio/wav", Buffer.from("RIFF\0\0\0\0WAVE"), "wav"],
  ["audio/mpeg", Buffer.from("ID3\x03"), "mp3"],
])(
  "a model that listens is sent a file of the type %s with its words, and the name of its format",
  async (type, bytes, format) => {
    const server = await openServer();
    await ask(server, fileOf(bytes, type));
    expect(asked(server)).toEqual([
      { type: "text", text: "spoken words" },
      { type: "input_audio", input_audio: { data: bytes.toString("base64"), format } },
    ]);
  },
);

test("a model of which nothing is known, or that does not listen, is sent none of what phones record", async () => {
  const server = await openServer();
  const note = fileOf(voiceNote("stop"), "audio/ogg");
  await ask(server, note, { providers: providers(server, {}) });
  expect(asked(server)).toBe("spoken words");
  await ask(server, fileOf(Buffer.from("RIFF"), "audio/wav"), {
    providers: providers(server, { models: { small: { audio: false } } }),
  });
  expect(asked(server)).toMatchObject([{}, { text: "[a file of the type audio/wav that you cannot see]" }]);
});

test("one that accepts no images but sound is not passed over for a voice message", async () => {
  const server = await openServer();
  const models = { small: { audio: true, images: false }, large: {} };
  await ask(server, fileOf(voiceNote("stop"), "audio/ogg"), {
    providers: providers(server, { models }),
    fallbacks: ["local/large"],
  });
  expect(server.requests.map(({ body }) => body.model)).toEqual(["small"]);
});

test("a fallback that does not listen reads the words and that there is a file", async () => {
  const server = await openServer();
  server.script(refuse(503, "busy"));
  await ask(server, fileOf(voiceNote("stop"), "audio/ogg"), { fallbacks: ["local/large"] });
  expect(server.requests.map(({ body }) => body.model)).toEqual(["small", "large"]);
  expect(asked(server)).toEqual(unheard);
});

test("a server that refuses the format is asked again with the words", async () => {
  const server = await openServer();
  server.script(refuse(400, "input_audio format must be wav or mp3"), say("I see."));
  expect((await ask(server, fileOf(voiceNote("stop"), "audio/ogg"))).text).toBe("I see.");
  expect(asked(server)).toEqual(unheard);
});

test("a long voice message is counted by its length, against the budget and the context", async () => {
  const server = await openServer();
  const counted: number[] = [];
  const spending: NonNullable<EngineTurn["spending"]> = {
    begin: async ({ inputTokens }) => ({ id: String(counted.push(inputTokens)) }),
    end: async () => {},
  };
  // Ten minutes.
  const bytes = Buffer.concat([voiceNote("friday"), Buffer.alloc(2_400_000)]);
  await ask(server, fileOf(bytes, "audio/ogg"), { spending });
  expect(counted[0]).toBeGreaterThan(19_000);
  expect(counted[0]).toBeLessThan(22_000);
});

test("it writes down what is said where a transcription is asked for, and the call is announced", async () => {
  const server = await openServer();
  server.script(say("Buy milk, please."));
  const sound = { ...fileOf(voiceNote("friday"), "audio/ogg"), seconds: 2 };
  const rows: unknown[] = [];
  const spending: NonNullable<EngineTurn["spending"]> = {
    begin: async ({ model }) => ({ id: String(rows.push(model)) }),
    end: async (_id, used) => void rows.push(used?.outputTokens),
  };
  const by = { model: "local/small", providers: providers(server), language: "de", spending };
  expect(await engine.transcribe?.(sound, by, never)).toBe("Buy milk, please.");
  expect(asked(server)).toMatchObject([
    { text: expect.stringContaining("Its language is de.") },
    { type: "input_audio" },
  ]);
  expect(rows).toEqual(["local/small", 7]);
});

test("a server that refuses the file cannot transcribe: the model would invent the words", async () => {
  const server = await openServer();
  server.script(refuse(400, "input_audio format must be wav or mp3"));
  const sound = { ...fileOf(voiceNote("friday"), "audio/ogg"), seconds: 2 };
  const by = { model: "local/small", providers: providers(server) };
  await expect(engine.transcribe?.(sound, by, never)).rejects.toMatchObject({ reason: "model_takes_no_files" });
  expect(server.requests).toHaveLength(1);
});
