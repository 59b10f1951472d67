/**
 * Messages that belong together are one turn: albums, cut texts, quick messages, a message and its edits; also over a
 * restart between the parts.
 */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, describe, test } from "vitest";
import type { EngineTurn, Inbound } from "../../core/sdk/contract.ts";
import botchat from "../../plugins/botchat/index.ts";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { endsOf } from "./conversation.ts";
import {
  answered,
  answers,
  kill,
  openChannel,
  openPlatform,
  people,
  restart,
  startGatewayProcess,
  stop,
} from "./room.ts";

aroundEach(inOwnTest);

interface Heard {
  readonly platform: Platform;
  readonly ada: number;
  /** What the agent was asked, in order, over all starts. */
  readonly turns: readonly Inbound[];
  /** Turns wait until it is called again. */
  hold(): () => void;
  start(): Promise<{ close(): Promise<void> }>;
  /** Ends of events, oldest first. */
  ends(): Promise<readonly string[]>;
  heard(count: number): Promise<void>;
}

async function listen(more: object = {}): Promise<Heard> {
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  const turns: Inbound[] = [];
  let held: Promise<void> = Promise.resolve();
  const answer = async ({ inbound }: EngineTurn) => {
    turns.push(inbound);
    await held;
    return `heard ${turns.length}`;
  };
  const [ada = 0] = people(platform);
  const config = { channels: { botchat: openChannel(platform) }, ...more };
  onTestFinished(() => removeDirectory(directory));
  return {
    platform,
    ada,
    turns,
    hold() {
      let release: () => void = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    async start() {
      const host = await createTestHost({ directory, config, plugins: [botchat], answer });
      onTestFinished(() => host.close());
      return host;
    },
    ends: () => endsOf(directory),
    heard: (count) => expect.poll(() => turns.length).toBeGreaterThanOrEqual(count),
  };
}

const photo = (name: string) => ({
  kind: "photo" as const,
  bytes: Buffer.from(name),
  fileName: `${name}.png`,
  mimeType: "image/png",
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const stored = (place: Heard) => expect.poll(() => place.platform.pending()).toBe(0);

/** What comes half a second later comes too late: a machine that stood still in between is asked again. */
const inTime = { retry: 3 };

describe.concurrent("an album", () => {
  test("becomes one turn with its files in order and its caption", async () => {
    const place = await listen();
    await place.start();
    const parts = place.platform.act.album(place.ada, place.ada, ["one", "two", "three"].map(photo), {
      caption: "our garden",
    });
    await place.heard(1);
    await pause(700);
    expect(place.turns).toHaveLength(1);
    const [turn] = place.turns;
    expect(turn?.media).toHaveLength(3);
    expect(turn?.text).toContain("our garden");
    expect(turn?.messageIds).toEqual(parts.map(({ message_id }) => String(message_id)));
    await expect.poll(() => place.ends()).toEqual(Array(3).fill("answered answered"));
  });

  test("waits for parts that are still arriving, while other chats proceed", inTime, async () => {
    const place = await listen();
    const [, bela = 0] = people(place.platform);
    await place.start();
    const { act } = place.platform;
    for (const name of ["one", "two", "three"]) {
      act.say(place.ada, place.ada, "", { media: photo(name), album: "late" });
      await pause(250);
    }
    act.say(bela, bela, "and me?");
    await place.heard(2);
    await pause(600);
    expect(place.turns.map(({ text, media }) => [media.length, text === "and me?"])).toEqual([
      [0, true],
      [3, false],
    ]);
  });

  test("loses and repeats nothing when the gateway restarts between its parts", inTime, async () => {
    const place = await listen();
    const first = await place.start();
    const { act } = place.platform;
    act.say(place.ada, place.ada, "", { media: photo("one"), album: "cut" });
    await stored(place);
    await first.close();
    expect(place.turns).toHaveLength(0);
    // Longer than an album waits for its next part.
    await pause(600);
    act.say(place.ada, place.ada, "", { media: photo("two"), album: "cut" });
    await place.start();
    await expect.poll(() => place.turns.flatMap(({ media }) => media).length).toBe(2);
    await pause(700);
    const files = place.turns.flatMap(({ media }) => media.map(({ ref }) => ref));
    expect(new Set(files).size).toBe(files.length);
    expect(files).toHaveLength(2);
    expect(place.turns).toHaveLength(1);
  });
});

test.concurrent("kill -9 between the parts of an album and of a split text loses and repeats nothing", async () => {
  const platform = await openPlatform();
  const [ada = 0, bela = 0] = people(platform);
  const first = await startGatewayProcess({
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    session: { dmScope: "per-peer" },
  });
  platform.act.say(ada, ada, "the first file", { media: photo("one"), album: "cut" });
  platform.act.say(bela, bela, "b".repeat(4_096));
  await expect.poll(() => platform.pending()).toBe(0);
  await kill(first);
  platform.act.say(ada, ada, "the second file", { media: photo("two"), album: "cut" });
  platform.act.say(bela, bela, "and the end of it");
  const second = await restart(first);
  await answered(platform, ada, "the second file");
  await answered(platform, bela, "and the end of it");
  await pause(500);
  const said = [...answers(platform, ada), ...answers(platform, bela)].join("\n");
  for (const words of [/the first file/g, /the second file/g, /and the end of it/g])
    expect(said.match(words)).toHaveLength(1);
  expect(said.replace(/[^b]/g, "").length).toBeGreaterThanOrEqual(4_096);
  await stop(second);
});

describe.concurrent("a text that the sender's app split", () => {
  const long =
    `${"Once upon a time, in a place far away. ".repeat(120)}And **this** is ` + `${"bold ".repeat(800)}to the end.`;

  test("is joined into one text, and a style across the split is one style", async () => {
    const place = await listen();
    await place.start();
    const start = long.indexOf("bold");
    const word = "x".repeat(9_000);
    const entities = [{ type: "bold", offset: 100, length: 8_000 }];
    expect(place.platform.act.paste(place.ada, place.ada, word, { entities })).toHaveLength(3);
    await place.heard(1);
    expect(place.turns[0]?.text).toBe(`${word.slice(0, 100)}**${word.slice(100, 8_100)}**${word.slice(8_100)}`);
    const parts = place.platform.act.paste(place.ada, place.ada, long, {
      entities: [{ type: "italic", offset: start, length: 20 }],
    });
    expect(parts.length).toBeGreaterThan(1);
    await place.heard(2);
    await pause(300);
    expect(place.turns).toHaveLength(2);
    const plain = (text: string | undefined) => text?.replace(/[\s_*]+/g, "");
    expect(plain(place.turns[1]?.text)).toBe(plain(long));
  });

  test("a long text without further parts is answered after the wait, and a later text is its own turn", async () => {
    const place = await listen();
    await place.start();
    place.platform.act.say(place.ada, place.ada, "y".repeat(4_050));
    await place.heard(1);
    place.platform.act.say(place.ada, place.ada, "short");
    await place.heard(2);
    expect(place.turns.map(({ text }) => text.length)).toEqual([4_050, 5]);
  });

  test("has at most twelve parts", async () => {
    const place = await listen();
    await place.start();
    expect(place.platform.act.paste(place.ada, place.ada, "z".repeat(4_096 * 14))).toHaveLength(14);
    await place.heard(2);
    expect(place.turns.map(({ text }) => text.length)).toEqual([4_096 * 12, 4_096 * 2]);
  });

  test("loses and repeats nothing when the gateway restarts between its parts", inTime, async () => {
    const place = await listen();
    const first = await place.start();
    const { act } = place.platform;
    act.say(place.ada, place.ada, `${"a".repeat(4_090)}, first`.slice(0, 4_096));
    await stored(place);
    await first.close();
    expect(place.turns).toHaveLength(0);
    act.say(place.ada, place.ada, "second part");
    await place.start();
    const all = () => place.turns.map(({ text }) => text).join("|");
    await expect.poll(all).toContain("second part");
    await pause(300);
    expect(all().match(/second part/g)).toHaveLength(1);
    expect(all().match(/a{4000}/g)).toHaveLength(1);
  });
});

describe.concurrent("quick messages", () => {
  test("within the interval become one turn, line by line; a command, a file and a reply stay separate", async () => {
    const place = await listen({ messages: { inbound: { debounceMs: 400 } } });
    await place.start();
    const { act } = place.platform;
    act.say(place.ada, place.ada, "first", { entities: [{ type: "bold", offset: 0, length: 5 }] });
    const second = act.say(place.ada, place.ada, "second");
    act.say(place.ada, place.ada, "/whoami");
    act.say(place.ada, place.ada, "third");
    act.say(place.ada, place.ada, "look", { media: photo("one") });
    act.say(place.ada, place.ada, "fourth");
    act.say(place.ada, place.ada, "about that", { replyTo: second.message_id });
    await place.heard(5);
    await pause(500);
    expect(place.turns.map(({ text }) => text.replace("<media:image>\n", ""))).toEqual([
      "**first**\nsecond",
      "third",
      "look",
      "fourth",
      "about that",
    ]);
  });

  test("are separate turns if no interval is set, and always if two people write", async () => {
    const place = await listen();
    await place.start();
    const { act } = place.platform;
    act.say(place.ada, place.ada, "first");
    act.say(place.ada, place.ada, "second");
    await place.heard(2);
    expect(place.turns.map(({ text }) => text)).toEqual(["first", "second"]);
  });
});

describe.concurrent("an edit", () => {
  test("of a waiting message replaces it", async () => {
    const place = await listen();
    await place.start();
    const { act } = place.platform;
    const release = place.hold();
    act.say(place.ada, place.ada, "first");
    await place.heard(1);
    const waiting = act.say(place.ada, place.ada, "to Paris");
    act.say(place.ada, place.ada, "third");
    act.edit(place.ada, place.ada, waiting.message_id, "to Rome");
    await stored(place);
    release();
    await place.heard(3);
    await pause(200);
    expect(place.turns.map(({ kind, text }) => [kind, text])).toEqual([
      ["message", "first"],
      ["message", "to Rome"],
      ["message", "third"],
    ]);
    await expect.poll(() => place.ends()).toEqual(Array(4).fill("answered answered"));
  });

  test("of a waiting part replaces that part", async () => {
    const place = await listen({ messages: { inbound: { debounceMs: 500 } } });
    await place.start();
    const { act } = place.platform;
    act.say(place.ada, place.ada, "bread");
    const part = act.say(place.ada, place.ada, "milk");
    act.say(place.ada, place.ada, "eggs");
    act.edit(place.ada, place.ada, part.message_id, "butter");
    await place.heard(1);
    await pause(700);
    expect(place.turns.map(({ text }) => text)).toEqual(["bread\nbutter\neggs"]);
  });

  test("after the turn is reported as an edit if the text changed, and ends silent if it did not", async () => {
    const place = await listen();
    await place.start();
    const { act } = place.platform;
    const said = act.say(place.ada, place.ada, "see https://example.org");
    await place.heard(1);
    act.change(place.ada, place.ada, said.message_id, { link_preview_options: { is_disabled: false } });
    await stored(place);
    act.edit(place.ada, place.ada, said.message_id, "see nothing");
    await place.heard(2);
    await pause(200);
    expect(place.turns.map(({ kind, text }) => [kind, text])).toEqual([
      ["message", "see https://example.org"],
      ["edit", "see nothing"],
    ]);
    await expect
      .poll(() => place.ends())
      .toEqual(["answered answered", "silent edit_changes_nothing", "answered answered"]);
  });

  test("that changes nothing is recognized after a restart, but only for the same bot", async () => {
    const place = await listen();
    const gateway = await place.start();
    const { act } = place.platform;
    const [short, long] = ["see example.org", `see example.org ${"and more ".repeat(20)}`].map((text) =>
      act.say(place.ada, place.ada, text),
    );
    await place.heard(2);
    await gateway.close();
    act.change(place.ada, place.ada, short?.message_id ?? 0, { link_preview_options: { is_disabled: false } });
    await place.start();
    act.change(place.ada, place.ada, long?.message_id ?? 0, { link_preview_options: { is_disabled: false } });
    act.edit(place.ada, place.ada, short?.message_id ?? 0, "see nothing");
    await place.heard(3);
    expect(place.turns.at(-1)).toMatchObject({ kind: "edit", text: "see nothing" });
    await expect
      .poll(async () => (await place.ends()).slice(2))
      .toEqual(["silent edit_changes_nothing", "silent edit_changes_nothing", "answered answered"]);
  });

  test("that moves a live location needs no answer", async () => {
    const place = await listen();
    await place.start();
    const { act } = place.platform;
    const at = (longitude: number) => ({ location: { latitude: 52.5, longitude, live_period: 900 } });
    const live = act.send(place.ada, place.ada, at(13.4));
    await place.heard(1);
    for (const longitude of [13.41, 13.42]) act.change(place.ada, place.ada, live.message_id, at(longitude));
    await expect
      .poll(() => place.ends())
      .toEqual(["answered answered", "silent live_location_moved", "silent live_location_moved"]);
    expect(place.turns).toHaveLength(1);
  });

  test("of a file is reported with the file that the message has now", async () => {
    const place = await listen();
    await place.start();
    const { act } = place.platform;
    const said = act.say(place.ada, place.ada, "the plan", { media: photo("one") });
    await place.heard(1);
    const other = act.say(place.ada, place.ada, "another", { media: photo("two") });
    await place.heard(2);
    act.change(place.ada, place.ada, said.message_id, { photo: other.photo ?? [] });
    await place.heard(3);
    expect(place.turns[2]?.kind).toBe("edit");
    expect(place.turns[2]?.media[0]?.ref).toBe(place.turns[1]?.media[0]?.ref);
  });
});
