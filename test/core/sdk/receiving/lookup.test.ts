/** Names that a platform has to be asked for, with its server in this process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fetchWhole } from "../../../../core/media/bounded-fetch.ts";
import { refusedCall } from "../../../../core/sdk/call-errors.ts";
import { createLookup, type LookupOptions } from "../../../../core/sdk/receiving/lookup.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A platform that names people by their number; `hold` makes it wait, `refuse` makes it answer 429 or 500. */
async function openPlatform() {
  const platform = { requests: [] as string[], hold: undefined as Promise<void> | undefined, refuse: 0 };
  const server = createServer(async (request, response) => {
    const id = (request.url ?? "").slice(1);
    platform.requests.push(id);
    await platform.hold;
    if (platform.refuse > 0) return void response.writeHead(platform.refuse, { "retry-after": "30" }).end("{}");
    response.end(JSON.stringify(id === "none" ? {} : { name: `Person ${id}` }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account = new AbortController();
  closing.push(async () => {
    account.abort();
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const time = { ms: 1_000_000 };
  const lookup = (options: Partial<LookupOptions<string>> = {}) =>
    createLookup<string>(
      { signal: account.signal, now: () => time.ms, log: silentLog },
      {
        async ask(id, signal) {
          const answer = await fetchWhole(`${root}/${id}`, { maxBytes: 1_000, timeoutMs: 5_000, signal });
          if (!answer.ok) throw refusedCall(answer, { call: "person" });
          return (JSON.parse(answer.text) as { readonly name?: string }).name;
        },
        ...options,
      },
    );
  return { platform, lookup, time, account };
}

const nothing = () => {};
const silentLog = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

test("an id is asked about once, however many wait for it, and its name is used for an hour", async () => {
  const { platform, lookup, time } = await openPlatform();
  const people = lookup();
  const all = await Promise.all(Array.from({ length: 50 }, () => people.find("7")));
  expect(new Set(all)).toEqual(new Set(["Person 7"]));
  time.ms += 3_599_000;
  await people.find("7");
  expect(platform.requests).toEqual(["7"]);
  time.ms += 2_000;
  await people.find("7");
  expect(platform.requests).toEqual(["7", "7"]);
});

test("only the most recent ids are remembered", async () => {
  const { platform, lookup } = await openPlatform();
  const people = lookup({ maxEntries: 2 });
  for (const id of ["1", "2", "1", "3"]) await people.find(id);
  platform.requests.length = 0;
  await people.find("1");
  await people.find("3");
  expect(platform.requests).toEqual([]);
  await people.find("2");
  expect(platform.requests).toEqual(["2"]);
});

test("a platform that does not answer costs one event its wait, and its late answer is used", async () => {
  const { platform, lookup, time } = await openPlatform();
  const held = Promise.withResolvers<void>();
  platform.hold = held.promise;
  const people = lookup({ waitMs: 30 });
  expect(await people.find("7")).toBeUndefined();
  time.ms += 30;
  // Resolves without a wait: 400 of them would take 12 s.
  for (let event = 0; event < 400; event += 1) expect(await people.find("7")).toBeUndefined();
  held.resolve();
  await expect.poll(() => people.find("7")).toBe("Person 7");
  expect(platform.requests).toEqual(["7"]);
});

test("an old name is better than none", async () => {
  const { platform, lookup, time } = await openPlatform();
  const people = lookup();
  await people.find("7");
  time.ms += 4_000_000;
  platform.refuse = 500;
  expect(await people.find("7")).toBe("Person 7");
  expect(await people.find("7")).toBe("Person 7");
  // A failure is not repeated with each event.
  expect(platform.requests).toEqual(["7", "7"]);
  platform.refuse = 0;
  time.ms += 61_000;
  await people.find("7");
  expect(platform.requests.length).toBe(3);
});

test("while a platform asks for a wait, no look-up is made", async () => {
  const { platform, lookup, time } = await openPlatform();
  const people = lookup();
  platform.refuse = 429;
  expect(await people.find("7")).toBeUndefined();
  platform.refuse = 0;
  expect(await people.find("8")).toBeUndefined();
  expect(platform.requests).toEqual(["7"]);
  time.ms += 30_001;
  expect(await people.find("8")).toBe("Person 8");
});

test("at most four requests are in progress, and the others follow", async () => {
  const { platform, lookup } = await openPlatform();
  const held = Promise.withResolvers<void>();
  platform.hold = held.promise;
  const people = lookup({ waitMs: 5_000 });
  const found = Promise.all(["1", "2", "3", "4", "5", "6"].map((id) => people.find(id)));
  await expect.poll(() => platform.requests.length).toBe(4);
  held.resolve();
  expect((await found).at(-1)).toBe("Person 6");
});

test("what an event says replaces an answer that is on its way, and a forgotten id is asked about again", async () => {
  const { platform, lookup } = await openPlatform();
  const held = Promise.withResolvers<void>();
  platform.hold = held.promise;
  const people = lookup({ waitMs: 5_000 });
  const asked = people.find("7");
  await expect.poll(() => platform.requests.length).toBe(1);
  people.learn("7", "Ada");
  held.resolve();
  expect(await asked).toBe("Ada");
  expect(await people.find("7")).toBe("Ada");
  people.forget("7");
  expect(await people.find("7")).toBe("Person 7");
});

test("a person whom the platform does not know has no name, and is asked about again after a minute", async () => {
  const { platform, lookup, time } = await openPlatform();
  const people = lookup();
  expect(await people.find("none")).toBeUndefined();
  expect(await people.find("none")).toBeUndefined();
  time.ms += 61_000;
  await people.find("none");
  expect(platform.requests).toEqual(["none", "none"]);
});

test("the end of the account ends every wait", async () => {
  const { platform, lookup, account } = await openPlatform();
  platform.hold = new Promise(() => {});
  const found = lookup({ waitMs: 2_000_000_000 }).find("7");
  await expect.poll(() => platform.requests.length).toBe(1);
  account.abort();
  expect(await found).toBeUndefined();
});
