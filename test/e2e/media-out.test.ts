/** Files that an agent sends: from its workspace, made on the spot, or from an address; over HTTP to the platform. */
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { OutboundMedia, TurnEvent } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import echo from "../../plugins/echo/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { converse } from "./conversation.ts";
import { openChannel, openPlatform, people } from "./room.ts";

test("permitted files arrive with their type; refused ones are reported; the operator sees the reason", async () => {
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const [ada = 0] = people(platform);
  const work = join(directory, "work");
  mkdirSync(work);
  writeFileSync(join(work, "report.pdf"), "%PDF-1.7 of the workspace");
  const secrets = createServer((_request, response) => void response.end("inside"));
  let asked = 0;
  secrets.on("connection", () => (asked += 1));
  await new Promise<void>((resolve) => secrets.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void secrets.close());
  const inside = `http://127.0.0.1:${(secrets.address() as AddressInfo).port}/token`;
  const answers: readonly (readonly OutboundMedia[])[] = [
    [{ path: "report.pdf" }],
    [{ url: inside }, { path: "../state/gateway-token" }, { path: "/etc/passwd" }],
  ];
  let turns = 0;
  async function* answer(): AsyncGenerator<TurnEvent> {
    const media = answers[turns++] ?? [];
    yield { type: "text", delta: "Here you are." };
    for (const each of media) yield { type: "media", media: each };
    yield { type: "done" };
  }
  const host = await createTestHost({
    directory,
    plugins: [botchat, echo],
    answer,
    config: {
      agents: { defaults: { engine: "test-engine", workspace: work } },
      plugins: { entries: { echo: { options: { delayMs: 0 } } } },
      channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    },
  });
  onTestFinished(() => host.close());
  const said = () =>
    [...([...platform.world.rooms.values()].find((room) => room.chat.id === ada)?.messages.values() ?? [])].filter(
      ({ from }) => from?.is_bot === true,
    ) as unknown as Record<string, unknown>[];
  const says = async (text: string, messages: number) => {
    const before = said().length;
    platform.act.say(ada, ada, text);
    await expect.poll(() => said().length, { interval: 20 }).toBe(before + messages);
    return said().slice(before);
  };

  expect(await says("the report, please", 1)).toMatchObject([
    { caption: "Here you are.", document: { file_name: "report.pdf" } },
  ]);
  const [refused] = await says("and what you may not", 1);
  expect(String(refused?.text).split("\n\n").sort()).toEqual([
    "Here you are.",
    "[media unavailable: gateway-token, it may not be sent]",
    "[media unavailable: passwd, it may not be sent]",
    "[media unavailable: token, its address is not public]",
  ]);
  expect(asked).toBe(0);
  await host.advance(0);
  const last = host.ended().at(-1);
  const why = (last?.decisions ?? []).filter(({ code }) => code === "media_unavailable");
  expect(last).toMatchObject({ outcome: "answered" });
  expect(why).toHaveLength(3);
  expect(why.map(({ detail }) => detail).join()).toContain("127.0.0.1 is an address of this machine (127.0.0.0/8)");

  await host.configure({ agents: { defaults: { engine: "echo" } } });
  expect(await says("show media", 1)).toMatchObject([{ caption: "A yellow disc.", photo: expect.anything() }]);
  const album = await says("show album", 3);
  expect(album.map(({ photo, caption }) => [photo !== undefined, caption])).toEqual([
    [true, "Yellow, lime and green."],
    [true, undefined],
    [true, undefined],
  ]);
  expect(await says("show voice", 1)).toMatchObject([{ voice: { file_size: 3_952 } }]);
});

test("/stop while files are fetched cancels the answer, keeps its visible part, and discards the files", async () => {
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const [ada = 0] = people(platform);
  const work = join(directory, "work");
  mkdirSync(work);
  // Of holes alone: nothing to make, and seconds to copy.
  const size = 4_000_000_000;
  writeFileSync(join(work, "huge.bin"), "");
  truncateSync(join(work, "huge.bin"), size);
  async function* answer(): AsyncGenerator<TurnEvent> {
    yield { type: "text", delta: "Here you are: it is the whole of what was asked for." };
    await new Promise((resolve) => setTimeout(resolve, 400));
    yield { type: "media", media: { path: "huge.bin" } };
    yield { type: "done" };
  }
  const host = await createTestHost({
    directory,
    plugins: [botchat],
    answer,
    config: {
      agents: { defaults: { workspace: work } },
      channels: { botchat: openChannel(platform, { mediaMaxMb: 4_000 }) },
    },
  });
  onTestFinished(() => host.close());
  const said = () =>
    [...([...platform.world.rooms.values()].find((room) => room.chat.id === ada)?.messages.values() ?? [])]
      .filter(({ from }) => from?.is_bot === true)
      .map(({ text }) => text ?? "");
  const media = join(directory, "state", "botchat", "default", "media");
  const files = () => readdirSync(media);
  /** How much of the file was copied when it was last seen. */
  let copied = 0;
  const look = () => {
    for (const file of files()) copied = statSync(join(media, file), { throwIfNoEntry: false })?.size ?? copied;
    return files();
  };
  platform.act.say(ada, ada, "all of it, please");
  await expect.poll(() => said().join()).toMatch(/^Here you are/);
  await expect.poll(look, { interval: 5 }).toHaveLength(1);
  platform.act.say(ada, ada, "/stop");
  await expect.poll(look, { interval: 5 }).toEqual([]);
  expect(copied).toBeLessThan(size);
  await expect
    .poll(() => [...said()].sort())
    .toEqual([
      expect.stringMatching(/^Here you are: it is the whole of what was asked for\.\s+\(stopped\)$/),
      "Stopped.",
    ]);
});

test("an answer's text arrives without a file that the platform rejects, and the trace says why", async () => {
  const chat = await converse({
    async *answer() {
      yield { type: "text", delta: "The chart says 42." } as const;
      yield {
        type: "media",
        media: { data: Buffer.from("%PDF-1.7").toString("base64"), fileName: "chart.pdf" },
      } as const;
      yield { type: "done" } as const;
    },
  });
  const description = "Bad Request: not enough rights to send documents to the chat";
  chat.platform.faults.add({ method: "sendDocument", times: 1, kind: "refuse", status: 400, description });
  await chat.start();
  chat.platform.act.say(chat.ada, chat.ada, "the chart, please");
  expect(await chat.ended(1)).toEqual(["answered answered"]);
  expect(chat.messages(chat.ada).map(({ text }) => text)).toEqual([
    "The chart says 42.\n\n[A file of this answer could not be sent.]",
  ]);
  const [event] = await chat.events();
  expect(event?.decisions).toContainEqual(
    expect.objectContaining({
      station: "delivery",
      code: "part_omitted",
      detail: `the file: sendDocument: 400 ${description}`,
    }),
  );
});
