/** What a server of `/audio/...` receives, and what becomes of its failures. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineProvider, EngineTurn } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { createSpeechServer, type SpeechServer } from "../../support/speech-server.ts";
import { voiceNote } from "../../support/voice-notes.ts";
import { openEngine } from "./engine.ts";

const never = new AbortController().signal;
const { engine } = openEngine();

function note(): { readonly path: string; readonly mimeType: string; readonly seconds: number } {
  const path = join(temporaryDirectory(), "a.ogg");
  writeFileSync(path, voiceNote("stop"));
  return { path, mimeType: "audio/ogg; codecs=opus", seconds: 1 };
}

/** The calls that were announced, with their ends. */
function ledger() {
  const rows: unknown[] = [];
  const spending: NonNullable<EngineTurn["spending"]> = {
    begin: async ({ model, seconds }) => ({ id: String(rows.push({ model, seconds })) }),
    end: async (_id, used) => void rows.push(used),
  };
  return { rows, spending };
}

function providers({ url }: SpeechServer, more: Partial<EngineProvider> = {}): EngineTurn["providers"] {
  return { ears: { api: "openai-compatible", baseUrl: url, ...more } };
}

test("the model, the language and the key are sent, and what is used is announced", async () => {
  const server = await createSpeechServer();
  server.script({ text: "Halt" });
  const { rows, spending } = ledger();
  const by = { model: "ears/org/small", language: "de", providers: providers(server, { apiKey: "sk-1234" }), spending };
  expect(await engine.transcribe?.(note(), by, never)).toBe("Halt");
  expect(server.requests).toMatchObject([
    { key: "Bearer sk-1234", fields: { model: "org/small", language: "de" }, file: { type: "audio/ogg" } },
  ]);
  expect(rows).toEqual([
    { model: "ears/org/small", seconds: 1 },
    { inputTokens: 0, outputTokens: 0, seconds: 1 },
  ]);
});

test("a text is spoken by the named voice, else by a usual one", async () => {
  const server = await createSpeechServer();
  const { spending } = ledger();
  const by = { model: "ears/loud", providers: providers(server), spending };
  const spoken = await engine.speak?.({ text: "Hello", seconds: 1 }, by, never);
  expect(Buffer.from(spoken?.data ?? []).equals(voiceNote("friday"))).toBe(true);
  await engine.speak?.({ text: "Hello", seconds: 1 }, { ...by, voice: "ash" }, never);
  expect(server.requests.map(({ fields }) => fields.voice)).toEqual(["alloy", "ash"]);
});

test.each([
  [{ status: 401 }, "model_unauthorized"],
  [{ status: 404, body: '{"error":{"message":"The model `small` does not exist"}}' }, "model_unknown"],
  [{ status: 404, body: "File Not Found (/v1/audio/transcriptions)" }, "model_refused"],
  [{ status: 429 }, "model_busy"],
  [{ status: 503 }, "model_unavailable"],
  [{ status: 400 }, "model_refused"],
  [{ status: 301 }, "model_unreachable"],
  [{ bytes: Buffer.from("<html>") }, "model_garbled"],
  [{ bytes: Buffer.from("[]") }, "model_garbled"],
  [{ bytes: Buffer.alloc(5 * 1_048_576, "a") }, "model_garbled"],
])("an answer that is no transcription, %j, is an error of the model server", async (answer, reason) => {
  const server = await createSpeechServer();
  server.script(answer);
  const by = { model: "ears/small", providers: providers(server, { apiKey: "sk-secret-key" }) };
  const asked = engine.transcribe?.(note(), by, never);
  await expect(asked).rejects.toMatchObject({ name: "EngineError", reason });
  await expect(asked).rejects.not.toThrow("sk-secret-key");
});

test("a server without the endpoint is said to have none", async () => {
  const server = await createSpeechServer();
  server.script({ status: 404, body: "File Not Found (/v1/audio/transcriptions)" }, { status: 405 });
  const by = { model: "ears/small", providers: providers(server) };
  const missing = (status: number) => ({
    message: `ears offers nothing at /audio/transcriptions below its baseUrl (${status})`,
    hint: expect.stringContaining("models.providers.ears.baseUrl"),
  });
  await expect(engine.transcribe?.(note(), by, never)).rejects.toMatchObject(missing(404));
  await expect(engine.transcribe?.(note(), by, never)).rejects.toMatchObject(missing(405));
});

test("a server that cannot be reached, or a model that is not configured, is named", async () => {
  const server = await createSpeechServer();
  await server.close();
  const by = { model: "ears/small", providers: providers(server) };
  await expect(engine.transcribe?.(note(), by, never)).rejects.toMatchObject({ reason: "model_unreachable" });
  const unknown = engine.transcribe?.(note(), { ...by, model: "other/small" }, never);
  await expect(unknown).rejects.toMatchObject({ reason: "model_unknown" });
});

test("a refused call costs nothing, and one that is cut off is an estimate", async () => {
  const server = await createSpeechServer();
  server.script({ status: 400 }, { hang: true });
  const { rows, spending } = ledger();
  const by = { model: "ears/small", providers: providers(server), spending };
  await expect(engine.transcribe?.(note(), by, never)).rejects.toThrow();
  const stop = new AbortController();
  const running = engine.transcribe?.(note(), by, stop.signal);
  await expect.poll(() => server.requests.length).toBe(2);
  stop.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
  const begun = { model: "ears/small", seconds: 1 };
  expect(rows).toEqual([begun, null, begun, { inputTokens: 0, outputTokens: 0, seconds: 1, estimated: true }]);
});
