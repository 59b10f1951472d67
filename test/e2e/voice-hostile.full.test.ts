/** Servers and programs that go wrong, with a gateway in a process of its own: it stays small, and it answers. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/directory.ts";
import { onTestFinished } from "../support/own-test.ts";
import { madeHere, voiceNote } from "../support/voice-notes.ts";
import { answered, answers, startGatewayProcess, stop } from "./room.ts";
import { openVoicePlace } from "./voice-processes.ts";

async function hostileServer(serve: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.on("error", () => {});
    serve(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** As fast as it is read, until the other side goes away. */
function endless(response: ServerResponse, piece: Buffer): void {
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

const megabyte = Buffer.alloc(1_048_576, " ");
/** The most that its process has ever used, in MB; 0 where the system does not say. */
function peakMb(pid: number | undefined): number {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}

const json = { "content-type": "application/json" };

describe("a server that transcribes", () => {
  test.each<readonly [string, (response: ServerResponse) => void]>([
    ["answers with a web page", (response) => void response.end("<html>Welcome</html>")],
    ["answers with an error in JSON and status 200", (response) => void response.end('{"error":{"message":"no"}}')],
    ["answers with nothing", (response) => void response.end()],
    ["answers with a text of 1 GB", (response) => endless(response.writeHead(200, json), megabyte)],
    ["closes the connection", (response) => void response.destroy()],
    [
      "sends a byte each second",
      (response) => {
        const timer = setInterval(() => response.write(" "), 1_000);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])(
    "that %s: the person is asked to write, and is answered then",
    async (_name, serve) => {
      const { platform, ada, config, speak } = await openVoicePlace({
        speech: { in: { model: "bad/one", timeoutSeconds: 2 } },
        providers: { bad: { api: "openai-compatible", baseUrl: await hostileServer(serve) } },
      });
      const gateway = await startGatewayProcess(config);
      const before = peakMb(gateway.child.pid);
      speak();
      await answered(platform, ada, /^Sorry, I (?:could not understand this|cannot listen to) voice message/, 60_000);
      expect(peakMb(gateway.child.pid) - before).toBeLessThan(150);
      platform.act.say(ada, ada, "in writing");
      await answered(platform, ada, "in writing");
      await stop(gateway);
    },
    120_000,
  );
});

describe("a server that speaks", () => {
  test.each<readonly [string, (response: ServerResponse) => void]>([
    ["answers with a web page", (response) => void response.end("<html>Welcome</html>")],
    ["answers with 1 GB", (response) => endless(response, megabyte)],
    ["never answers", () => {}],
  ])(
    "that %s: the text arrives alone",
    async (_name, serve) => {
      const { platform, ada, config } = await openVoicePlace({
        speech: { out: { model: "bad/one", timeoutSeconds: 2 } },
        providers: { bad: { api: "openai-compatible", baseUrl: await hostileServer(serve) } },
        reply: "[[audio_as_voice]]sunny",
      });
      const gateway = await startGatewayProcess(config);
      platform.act.say(ada, ada, "tell me by voice");
      await answered(platform, ada, "sunny", 30_000);
      expect(answers(platform, ada)).toEqual(["sunny"]);
      await stop(gateway);
    },
    60_000,
  );
});

/** A program of the shell, as people write it. */
function script(text: string): string {
  const file = join(temporaryDirectory(), "listen");
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

async function openWithProgram(command: readonly string[], more: object = {}) {
  const place = await openVoicePlace({ speech: { in: { command, timeoutSeconds: 2 }, ...more } });
  return { ...place, gateway: await startGatewayProcess(place.config) };
}

describe("a program that transcribes", () => {
  test.each([
    ["is missing", ["/no/such/program", "{file}"]],
    ["ends with a code", [script("echo no model >&2; exit 3"), "{file}"]],
    ["hangs, with what it has started", [script("sleep 600 & sleep 600"), "{file}"]],
    ["prints 100 MB", [script("head -c 100000000 /dev/zero"), "{file}"]],
    ["prints 100 MB of complaints and fails", [script("head -c 100000000 /dev/zero >&2; exit 1"), "{file}"]],
  ])(
    "and that %s: the person is asked to write, and is answered then",
    async (_name, command) => {
      const { platform, ada, speak, gateway } = await openWithProgram(command);
      const before = peakMb(gateway.child.pid);
      speak();
      await answered(platform, ada, "Sorry, I could not understand this voice message. Please write to me instead.");
      expect(peakMb(gateway.child.pid) - before).toBeLessThan(100);
      platform.act.say(ada, ada, "in writing");
      await answered(platform, ada, "in writing");
      await stop(gateway);
    },
    60_000,
  );

  test("is never handed what a stranger has chosen, and what it prints is text", async () => {
    const seen = join(temporaryDirectory(), "seen");
    const listen = script(`printf '%s' "$*" > ${seen}; echo '$(touch '${seen}.shell'); \`id\` | /stop && {file}'`);
    const { platform, model, ada, gateway } = await openWithProgram([listen, "{file}"]);
    const media = {
      kind: "audio" as const,
      bytes: voiceNote("friday"),
      fileName: `--help;$(touch ${seen}.name)\n.ogg`,
      mimeType: "audio/ogg",
    };
    platform.act.say(ada, ada, "", { media });
    await answered(platform, ada, "/stop && {file}");
    expect(readFileSync(seen, "utf8")).toMatch(/^\/[\w/.-]+\/[0-9a-f]+\.ogg$/);
    expect([`${seen}.shell`, `${seen}.name`].some((file) => existsSync(file))).toBe(false);
    expect(model.requests).toHaveLength(1);
    await stop(gateway);
  }, 60_000);
});

test("programs on this machine listen and speak: what is sent as a voice message is Ogg/Opus", async ({ skip }) => {
  if (madeHere("hello") === undefined) return skip("espeak-ng or opusenc is not installed");
  const listen = script(`opusdec --quiet --force-wav "$1" - | wc -c | sed 's/.*/sound of & bytes/'`);
  const speak = script(`espeak-ng -f "$1" --stdout | opusenc --quiet - "$2"`);
  const out = { command: [speak, "{text}", "{output}"], when: "inbound" };
  const { platform, ada, speak: say, gateway } = await openWithProgram([listen, "{file}"], { out });
  say();
  await expect.poll(() => platform.calls.list({ method: "sendVoice" }).length, { timeout: 30_000 }).toBe(1);
  const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === ada);
  const [sent] = [...(room?.messages.values() ?? [])].filter(({ voice }) => voice !== undefined).slice(-1);
  const bytes = platform.files.find(sent?.voice?.file_id ?? "")?.bytes;
  expect(bytes?.subarray(0, 4).toString()).toBe("OggS");
  expect(bytes?.subarray(28, 36).toString()).toBe("OpusHead");
  expect(sent?.caption).toMatch(/sound of \d+ bytes/);
  await stop(gateway);
}, 60_000);
