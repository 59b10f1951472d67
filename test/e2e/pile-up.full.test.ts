/**
 * Wakes that pile up over HTTP: one model call of bounded size reads the newest and how many were left out, and the
 * rows stay bounded.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import ai from "../../plugins/ai/index.ts";
import { refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { startGateway } from "../support/gateway.ts";
import { hookToken, postHook } from "./room.ts";

const hour = 60 * 60_000;
const day = 24 * hour;

async function open({ now = Date.now }: { readonly now?: () => number } = {}) {
  const server = await createOpenAiServer({ answer: () => say("Noted.") });
  const directory = temporaryDirectory();
  const { gateway } = await startGateway({
    directory,
    plugins: [ai],
    gateway: { now },
    config: {
      agents: { defaults: { model: "local/small", heartbeat: { every: "0" } } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: server.url } } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
      hooks: { enabled: true, token: hookToken, rateLimit: { perMinute: 0 } },
    },
  });
  const store = await openSqliteStore({ directory: gateway.stateDirectory, now });
  onTestFinished(async () => {
    await store.close();
    await gateway.close();
    await server.close();
    removeDirectory(directory);
  });
  const wake = async (text: string, mode: "now" | "next-heartbeat" = "next-heartbeat") => {
    const response = await postHook(gateway.url, "wake", { text, mode });
    expect(response.ok).toBe(true);
    return ((await response.json()) as { eventId: string }).eventId;
  };
  return {
    server,
    store,
    wake,
    log: () =>
      readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly msg: string; readonly [key: string]: unknown }),
    async pileUp(count: number, more = "") {
      for (let sent = 0; sent < count; sent += 50)
        await Promise.all(Array.from({ length: 50 }, (_, index) => wake(`event ${sent + index}.${more}`)));
    },
    /** What the state takes on the disk; the log beside it is emptied again and again, and its size says nothing. */
    bytes: () => statSync(join(gateway.stateDirectory, "state.db")).size,
    prompt: (index: number) => String(server.requests[index]?.body.messages.at(-1)?.content),
  };
}

test("after twelve hundred wakes, an immediate one starts one call with the newest and the omitted count", async () => {
  const { server, store, wake, pileUp, prompt, log } = await open();
  await pileUp(1_200);
  expect((await store.stats()).waiting).toBeLessThanOrEqual(1_000);
  const last = await wake("The door opened.", "now");
  await expect.poll(async () => (await store.event(last))?.outcome).toBe("silent");
  expect(server.requests).toHaveLength(1);
  expect(prompt(0)).toContain("1151 earlier events were left out.");
  expect(prompt(0)).toContain("The door opened.");
  expect(prompt(0).match(/event \d+\./g)).toHaveLength(49);
  expect(prompt(0).length).toBeLessThan(30_000);
  expect((await store.stats()).waiting).toBe(0);
  // An operator who reads the log at its default level learns that the model missed them.
  const lines = () => log().filter(({ msg }) => msg.startsWith("events were left out of a turn"));
  await expect
    .poll(lines)
    .toMatchObject([{ level: 40, leftOut: 1_151, hint: expect.stringContaining("heartbeat.every") }]);

  await wake("It closed again.", "now");
  await expect.poll(() => server.requests.length).toBe(2);
  expect(prompt(1)).not.toContain("left out");
  expect(lines()).toHaveLength(1);
});

test("a heartbeat reads at most 20,000 characters of long wakes", async () => {
  const { server, wake, prompt } = await open();
  for (let index = 0; index < 6; index += 1) await wake(`${index} ${"x".repeat(6_000)}`);
  await wake("The door opened.", "now");
  await expect.poll(() => server.requests.length).toBe(1);
  expect(prompt(0)).toContain("3 earlier events were left out.");
  expect(prompt(0).match(/x{6000}/g)).toHaveLength(3);
});

test("a failed call removes nothing from the queue, and the next one reads all of it", async () => {
  const { server, store, wake, prompt } = await open();
  await wake("One.");
  server.script(refuse(400, "no such field"));
  const failed = await wake("Two.", "now");
  await expect
    .poll(async () => (await store.event(failed))?.decisions.map(({ code }) => code))
    .toContain("model_refused");
  await expect.poll(async () => (await store.event(failed))?.state).toBe("waiting");
  await wake("Three.", "now");
  await expect.poll(async () => (await store.event(failed))?.outcome).toBe("silent");
  expect(server.requests).toHaveLength(2);
  for (const text of ["One.", "Two.", "Three."]) expect(prompt(1)).toContain(text);
});

test("a week without heartbeats leaves the number of waiting rows, their age and the file size bounded", {
  timeout: 60_000,
}, async () => {
  let at = Date.now();
  const { store, wake, pileUp, bytes } = await open({ now: () => at });
  const limits = { keepEventsMs: 7 * day, keepEvents: 300, keepSentMs: day };
  const sizes: number[] = [];
  for (let days = 0; days < 8; days += 1) {
    await pileUp(days === 0 ? 950 : 150, "x".repeat(8_000));
    at += day;
    await store.prune({ now: at, ...limits });
    sizes.push(bytes());
  }
  const { waiting } = await store.stats();
  expect(waiting).toBeLessThanOrEqual(1_000);
  expect(waiting).toBeGreaterThan(0);
  // From then on there are a thousand that wait and three hundred that have ended.
  const [, , , , full = 0] = sizes;
  expect(sizes.at(-1)).toBeLessThan(full * 1.1);
  at += 8 * day;
  await wake("The first for a week.");
  await store.prune({ now: at, ...limits });
  expect((await store.stats()).waiting).toBe(1);
});
