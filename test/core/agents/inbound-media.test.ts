import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { completeMedia, removeOldMedia } from "../../../core/channels/inbound-media.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import { ChannelError } from "../../../core/contract/plugin-errors.ts";
import type { InboundMedia } from "../../../core/contract/types.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";
import { message } from "./inbound.ts";

type FetchMedia = NonNullable<ChannelConnection["fetchMedia"]>;

const never = new AbortController().signal;
const file = (ref: string, more: Partial<InboundMedia> = {}): InboundMedia => ({ kind: "document", ref, ...more });

function account(fetchMedia: FetchMedia | undefined, options: object = {}): LiveAccount {
  return { connection: { fetchMedia }, options } as unknown as LiveAccount;
}

const fetched = (ref: string) => ({ path: `/state/${ref}`, mimeType: "text/plain", size: 3 });

describe("the files of a message", () => {
  test("are fetched a few at a time and keep their order", async () => {
    let running = 0;
    let most = 0;
    const fetchMedia: FetchMedia = async ({ ref }) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, ref === "a" ? 30 : 5));
      running -= 1;
      return fetched(ref);
    };
    const media = ["a", "b", "c", "d", "e", "f"].map((ref) => file(ref));
    const complete = await completeMedia(message("hi", { media }), { account: account(fetchMedia), signal: never });
    expect(complete.media.map(({ ref, path }) => [ref, path])).toEqual(media.map(({ ref }) => [ref, `/state/${ref}`]));
    expect(complete.text).toBe("hi");
    expect(most).toBe(4);
  });

  test("are limited to the account's mediaMaxMb, by default 5 MB", async () => {
    const limits: number[] = [];
    const fetchMedia: FetchMedia = async ({ ref }, { maxBytes }) => {
      limits.push(maxBytes);
      return fetched(ref);
    };
    for (const options of [{ mediaMaxMb: 0.5 }, {}, { mediaMaxMb: "much" }, { mediaMaxMb: -1 }]) {
      await completeMedia(message("", { media: [file("a")] }), {
        account: account(fetchMedia, options),
        signal: never,
      });
    }
    expect(limits).toEqual([524_288, 5_242_880, 5_242_880, 5_242_880]);
  });

  test("that cannot be fetched are noted in a line with the channel's reason; operators get other errors", async () => {
    const fetchMedia: FetchMedia = async ({ ref }) => {
      if (ref === "a") throw new ChannelError("gone", { detail: "the file\nis gone" });
      throw new Error("/secret/path");
    };
    const heard: unknown[] = [];
    const { media } = await completeMedia(message("", { media: [file("a"), file("b")] }), {
      account: account(fetchMedia),
      signal: never,
      onUnavailable: (_media, error) => heard.push(String(error)),
    });
    expect(media.map(({ unavailable }) => unavailable)).toEqual(["the file is gone", "it could not be fetched"]);
    expect(heard).toEqual([expect.stringContaining("the file"), expect.stringContaining("/secret/path")]);
  });

  test("are not fetched if the channel cannot fetch, if they are animated, or if they are already local", async () => {
    const asked: string[] = [];
    const fetchMedia: FetchMedia = async ({ ref }) => {
      asked.push(ref);
      return fetched(ref);
    };
    const media = [file("a", { kind: "sticker", sticker: { animated: true } }), file("b", { path: "/here" })];
    expect(
      (await completeMedia(message("", { media }), { account: account(fetchMedia), signal: never })).media,
    ).toEqual(media);
    expect((await completeMedia(message("", { media }), { account: account(undefined), signal: never })).media).toEqual(
      media,
    );
    expect((await completeMedia(message("", { media }), { account: undefined, signal: never })).media).toEqual(media);
    expect(asked).toEqual([]);
  });

  test("are abandoned when the gateway closes", async () => {
    const stop = new AbortController();
    const fetchMedia: FetchMedia = (_media, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new ChannelError("aborted")));
      });
    const running = completeMedia(message("", { media: [file("a")] }), {
      account: account(fetchMedia),
      signal: stop.signal,
    });
    stop.abort();
    expect((await running).media[0]?.unavailable).toMatch(/^The call was stopped/);
  });
});

test("fetched files of every account are deleted after seven days; other files and links stay", async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), "old-media-"));
  onTestFinished(() => rmSync(stateDirectory, { recursive: true, force: true }));
  const now = Date.UTC(2026, 10, 20);
  const day = 24 * 60 * 60;
  const put = (account: string, folder: string, name: string, days: number) => {
    const directory = join(stateDirectory, "irc", account, folder);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), "x");
    utimesSync(join(directory, name), now / 1_000 - days * day, now / 1_000 - days * day);
  };
  put("default", "media", "old.png", 8);
  put("default", "media", "young.png", 6);
  put("gone", "media", "old.part", 30);
  put("default", "keep", "old.png", 30);
  symlinkSync("/nowhere", join(stateDirectory, "irc", "default", "media", "link"));
  writeFileSync(join(stateDirectory, "irc", "sticker-cache.json"), "{}");
  expect(await removeOldMedia({ stateDirectory, channels: ["irc", "mail"], now })).toBe(2);
  expect(readdirSync(join(stateDirectory, "irc", "default", "media")).sort()).toEqual(["link", "young.png"]);
  expect(existsSync(join(stateDirectory, "irc", "default", "keep", "old.png"))).toBe(true);
  expect(existsSync(join(stateDirectory, "irc", "sticker-cache.json"))).toBe(true);
});

test("beyond 2 GiB per account, the oldest files are deleted, but never those of the last hour", async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), "much-media-"));
  onTestFinished(() => rmSync(stateDirectory, { recursive: true, force: true }));
  const now = Date.UTC(2026, 10, 20);
  const put = (account: string, name: string, megabytes: number, hours: number) => {
    const directory = join(stateDirectory, "irc", account, "media");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), "");
    // Holes: it counts as so large, and takes no room.
    truncateSync(join(directory, name), megabytes * 1_048_576);
    utimesSync(join(directory, name), now / 1_000 - hours * 3_600, now / 1_000 - hours * 3_600);
  };
  put("default", "a", 900, 40);
  put("default", "b", 900, 30);
  put("default", "c", 900, 20);
  put("default", "d", 200, 0.5);
  put("quiet", "a", 2_000, 40);
  put("huge", "a", 3_000, 0.5);
  put("huge", "b", 1, 2);
  expect(await removeOldMedia({ stateDirectory, channels: ["irc"], now })).toBe(2);
  const left = (account: string) => readdirSync(join(stateDirectory, "irc", account, "media")).sort();
  expect(left("default")).toEqual(["b", "c", "d"]);
  expect(left("quiet")).toEqual(["a"]);
  expect(left("huge")).toEqual(["a"]);
});
