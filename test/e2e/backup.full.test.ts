/** A backup of a gateway that accepts 200 events a second and is killed afterwards, restored elsewhere. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openSqliteReader } from "../../core/state/sqlite/index.ts";
import { start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { usePostgres } from "../support/postgres.ts";

const database = usePostgres();
const hookToken = "hooks-of-a-busy-gateway-0123456789";
const perSecond = 200;
const beforeMs = 3_000;
const afterMs = 1_500;

/** An engine that takes its time, and a channel that notes in a file what it sends. */
const engine = `
import { setTimeout as sleep } from "node:timers/promises";
import { defineEngine } from "service-gateway/sdk";
export default defineEngine({
  id: "slow", version: "1.0.0", host: "^0.2.0",
  async *run(turn) {
    await sleep(40);
    yield { type: "text", delta: /job \\d+/.exec(turn.inbound.text)?.[0] ?? "?" };
    yield { type: "done" };
  },
});
`;
const channel = (file: string) => `
import { appendFileSync } from "node:fs";
import { Type } from "service-gateway/sdk";
import { defineChannel } from "service-gateway/sdk/channel";
let sent = 0;
export default defineChannel({
  id: "noted", version: "1.0.0", host: "^0.2.0", options: Type.Object({}),
  capabilities: { maxChars: 4000, markup: "plain", edits: false, threads: false, reactions: false, media: false,
    buttons: false, typing: false, menu: false },
  open: (account) => ({
    async start() { account.calling()(); account.status({ state: "connected", identity: { id: "bot", username: "bot" } }); },
    parse: () => undefined,
    render: (reply) => [{ kind: "text", chars: reply.text.length, body: reply.text }],
    async send(part) {
      appendFileSync(${JSON.stringify(file)}, String(part.body) + "\\n");
      sent += 1;
      return { messageId: process.pid + "-" + sent };
    },
    async close() {},
  }),
});
`;

interface Accepted {
  readonly id: string;
  readonly job: number;
  /** When its 202 had arrived. */
  readonly at: number;
}

/** Posts jobs at a steady rate until the signal aborts. */
async function load(url: string, accepted: Accepted[], signal: AbortSignal): Promise<void> {
  const begun = performance.now();
  const posts: Promise<void>[] = [];
  for (let job = 0; !signal.aborted; job += 1) {
    const due = begun + (job * 1_000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    posts.push(post(url, job, accepted).catch(() => {}));
  }
  await Promise.all(posts);
}

async function post(url: string, job: number, accepted: Accepted[]): Promise<void> {
  const message = { message: `job ${job}`, sessionKey: `hook:line-${job % 40}`, wakeMode: "next-heartbeat" };
  const response = await fetch(`${url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
    body: JSON.stringify({ ...message, deliver: true, channel: "noted", to: String(job) }),
  });
  const { runId } = (await response.json()) as { readonly runId: string };
  if (response.status === 202) accepted.push({ id: runId, job, at: performance.now() });
}

const urlIn = (directory: string): string =>
  (JSON.parse(readFileSync(join(directory, "gateway.json"), "utf8")) as { readonly url: string }).url;

/** How often each job was sent. */
function sendsIn(file: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const [, job] of readFileSync(file, "utf8").matchAll(/job (\d+)/g))
    counts.set(Number(job), (counts.get(Number(job)) ?? 0) + 1);
  return counts;
}

test("a backup under 200 events a second has all that was acknowledged before, and each of it is answered once", {
  timeout: 180_000,
}, async () => {
  const home = temporaryHome();
  const sentFile = join(home, "sent");
  writeFileSync(sentFile, "");
  writeFileSync(join(home, "slow.ts"), engine);
  writeFileSync(join(home, "noted.ts"), channel(sentFile));
  const directory = join(home, "state");
  const config = join(home, "config.jsonc");
  writeFileSync(
    config,
    JSON.stringify({
      gateway: { port: 0 },
      state: { dir: "state" },
      plugins: { load: [join(home, "slow.ts"), join(home, "noted.ts")] },
      channels: { noted: { dmPolicy: "open", allowFrom: ["*"] } },
      hooks: { enabled: true, token: hookToken, allowRequestSessionKey: true },
      agents: { defaults: { engine: "slow", maxConcurrent: 4, heartbeat: { every: "0" } } },
    }),
  );
  const gateway = start(["gateway", "--config", config], { home });
  await gateway.until(/is ready at/);
  const accepted: Accepted[] = [];
  const ending = new AbortController();
  const loading = load(urlIn(directory), accepted, ending.signal);
  await sleep(beforeMs);

  const file = join(home, "backup.tar.gz");
  const begun = performance.now();
  const backup = start(["backup", file, "--config", config, "--with-secrets", "--json"], { home });
  const { code, err } = await backup.finished;
  expect([code, err]).toEqual([0, ""]);
  await sleep(afterMs);
  gateway.child.kill("SIGKILL");
  await gateway.finished;
  ending.abort();
  await loading;
  const sentByFirst = sendsIn(sentFile);

  const to = join(home, "elsewhere");
  const restored = await run(["restore", file, "--to", to], { home });
  expect([restored.code, restored.err]).toEqual([0, ""]);
  const acknowledged = accepted.filter(({ at }) => at < begun);
  expect(acknowledged.length).toBeGreaterThan((perSecond * beforeMs) / 1_000 / 3);
  const before = await stateOf(to, accepted);
  expect(acknowledged.filter(({ id }) => before.get(id) === undefined)).toEqual([]);
  const pending = accepted.filter(({ id }) => before.get(id) === "open");
  const over = accepted.filter(({ id }) => before.get(id) === "settled");
  expect([pending.length > 0, over.length > 0]).toEqual([true, true]);

  const second = start(["gateway", "--config", join(to, "config.jsonc")], { home });
  await second.until(/is ready at/);
  await expect
    .poll(async () => [...(await stateOf(to, pending)).values()].filter((state) => state !== "settled").length, {
      timeout: 120_000,
      interval: 500,
    })
    .toBe(0);
  second.child.kill("SIGTERM");
  expect((await second.finished).code).toBe(0);
  const sends = sendsIn(sentFile);
  const bySecond = ({ job }: Accepted) => (sends.get(job) ?? 0) - (sentByFirst.get(job) ?? 0);
  expect(pending.filter((one) => bySecond(one) !== 1)).toEqual([]);
  expect(over.filter((one) => bySecond(one) !== 0 || sends.get(one.job) !== 1)).toEqual([]);
});

/** Of the events that a state has: whether they have ended. */
async function stateOf(
  directory: string,
  events: readonly Accepted[],
): Promise<ReadonlyMap<string, "open" | "settled">> {
  const reader = await openSqliteReader({ directory, now: Date.now });
  try {
    const states = new Map<string, "open" | "settled">();
    for (const { id } of events) {
      const report = await reader.event(id);
      if (report !== null) states.set(id, report.state === "settled" ? "settled" : "open");
    }
    return states;
  } finally {
    await reader.close();
  }
}

test("with the state in PostgreSQL, a backup contains the rest, and prints the command for the database", async () => {
  const home = temporaryHome();
  const config = join(home, "config.jsonc");
  const url = database.newUrl();
  writeFileSync(config, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state", store: "postgres", url } }));
  const gateway = start(["gateway", "--config", config], { home });
  await gateway.until(/is ready at/);
  const file = join(home, "backup.tar.gz");
  const { code, out, err } = await start(["backup", file, "--config", config], { home }).finished;
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("It does not contain the database of the store postgres.");
  expect(out).toMatch(/^ {2}pg_dump --format=custom --schema=\S+ --file=gateway\.dump 'postgres:\S+'$/m);
  const to = join(home, "elsewhere");
  const restored = await start(["restore", file, "--to", to], { home }).finished;
  expect([restored.code, readdirSync(to)]).toEqual([0, ["config.jsonc"]]);
  expect(restored.out).toContain("Restore the database of the store postgres first.");
  expect(restored.out).toContain(`state.url: write the secret to ${to}/secrets/state.url`);
});
