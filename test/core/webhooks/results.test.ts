import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { definePlugin } from "../../../core/sdk/contract.ts";
import { createResults } from "../../../core/webhooks/endpoint/results.ts";

const token = "hook-token-for-results";
/** Closed after the test. What a test makes the agent and its plugins do is logged. */
async function open(options: TestHostOptions): Promise<TestHost> {
  const host = await createTestHost({ allowErrors: [/^error in the log/], ...options });
  onTestFinished(() => host.close());
  return host;
}

interface Agent {
  /** Lets the runs that wait, and all later ones, come to their end. */
  release(): void;
  readonly turns: () => number;
}

async function startAgent(
  options: { readonly hooks?: object; readonly held?: boolean } = {},
): Promise<Agent & { readonly host: TestHost }> {
  const gate = Promise.withResolvers<void>();
  if (options.held !== true) gate.resolve();
  let turns = 0;
  const host = await open({
    config: { hooks: { token, ...options.hooks } },
    async answer({ inbound }) {
      // What the agent is told of a run afterwards is no run.
      if (inbound.request?.heartbeat === undefined) turns += 1;
      await gate.promise;
      if (inbound.text.includes("break")) throw new Error("the model is broken");
      return `done ${turns}`;
    },
  });
  return { host, release: gate.resolve, turns: () => turns };
}

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const exposed = { exposeReplies: true };

interface Answer {
  readonly status: number;
  readonly applied: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: what the gateway answers is what is tested.
  readonly json: any;
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, applied: response.headers.get("preference-applied"), json: await response.json() };
}

interface Asked {
  readonly host: TestHost;
}

const post = async ({ host }: Asked, path: string, body: object, more: Record<string, string> = {}) =>
  answerOf(
    await fetch(`${host.url}/hooks/${path}`, {
      method: "POST",
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    }),
  );

const ask = (started: Asked, message: string, more: Record<string, string> = {}) =>
  post(started, "agent", { message, deliver: false }, more);

const look = async ({ host }: Asked, runId: string, more: Record<string, string> = {}) =>
  answerOf(await fetch(`${host.url}/hooks/runs/${runId}`, { headers: { ...headers, ...more } }));

describe("the result of a run", () => {
  test("shows the state of a running run, and later the outcome, times and decisions of an ended one", async () => {
    const started = await startAgent({ held: true });
    const { json } = await ask(started, "hello");
    expect((await look(started, json.runId)).json).toMatchObject({
      ok: true,
      runId: json.runId,
      eventId: json.eventId,
      attempts: expect.any(Number),
    });
    expect((await look(started, json.runId)).json).not.toHaveProperty("outcome");
    started.release();
    await started.host.settled(json.runId);
    const { status, json: result } = await look(started, json.runId);
    expect(status).toBe(200);
    expect(result).toMatchObject({
      state: "settled",
      outcome: "silent",
      reason: "not_asked",
      attempts: 1,
      ms: expect.any(Number),
    });
    expect(new Date(result.endedAt).getTime() - new Date(result.acceptedAt).getTime()).toBe(result.ms);
    expect(
      result.decisions.map(({ station, code }: { station: string; code: string }) => `${station} ${code}`),
    ).toContain("turn done");
    expect(result).not.toHaveProperty("reply");
  });

  test("contains the reply only if hooks.exposeReplies is on, even for an undelivered reply", async () => {
    const shown = await startAgent({ hooks: exposed });
    const { json } = await ask(shown, "hello");
    await shown.host.settled(json.runId);
    expect((await look(shown, json.runId)).json).toMatchObject({ state: "settled", reply: "done 1" });
  });

  test("never contains a secret of the configuration", async () => {
    const host = await open({ config: { hooks: { token, ...exposed } }, answer: () => `the token is ${token}` });
    const { json } = await ask({ host }, "tell", { prefer: "wait=10" });
    expect(json).toMatchObject({ state: "settled", reply: "the token is [secret]" });
  });

  test("omits a reply whose formatting failed, because the failed tap might have had to remove secrets", async () => {
    const redactor = definePlugin({
      id: "redactor",
      version: "1.0.0",
      host: "^0.2.0",
      setup(host) {
        host.tap("formatting", () => {
          throw new Error("the redactor is broken");
        });
      },
    });
    const host = await open({
      plugins: [redactor],
      config: { hooks: { token, ...exposed } },
      answer: () => "a word that is to be removed",
    });
    const { json } = await ask({ host }, "tell", { prefer: "wait=10" });
    expect(json).toMatchObject({ state: "settled", outcome: "failed", reason: "formatting_failed" });
    expect(JSON.stringify(json)).not.toContain("to be removed");
  });

  test("of a failed run explains the cause and the remedy without details meant for the operator", async () => {
    const started = await startAgent();
    const { json } = await ask(started, "break");
    await started.host.settled(json.runId);
    const { json: result } = await look(started, json.runId);
    expect(result).toMatchObject({ state: "settled", outcome: "failed" });
    expect(JSON.stringify(result)).not.toContain("the model is broken");
    for (const decision of result.decisions) expect(decision).not.toHaveProperty("detail");
  });

  test("is 404 for an unknown id, a chat message or the summary of another run", async () => {
    const started = await startAgent({ hooks: exposed });
    const { eventId: chat } = await started.host.say("hello");
    const { json } = await ask(started, "hello");
    await started.host.settled(json.runId);
    const { openSqliteStore } = await import("../../../core/state/sqlite/index.ts");
    const store = await openSqliteStore({ directory: join(started.host.directory, "state"), now: Date.now });
    const summary = (await store.events({ limit: 10, source: "hooks" })).find(({ kind }) => kind === "summary");
    await store.close();
    expect(summary).toBeDefined();
    for (const id of ["nothing", chat, summary?.id ?? "", "..%2f..", "a/b", ""]) {
      expect(await look(started, id), id).toMatchObject({ status: 404, json: { ok: false, code: "not_found" } });
    }
  });

  test("requires the hook token and accepts only GET", async () => {
    const started = await startAgent();
    const { json } = await ask(started, "hello");
    expect(await look(started, json.runId, { authorization: "Bearer wrong" })).toMatchObject({
      status: 401,
      json: { code: "unauthorized" },
    });
    const posted = await fetch(`${started.host.url}/hooks/runs/${json.runId}`, { method: "POST", headers, body: "{}" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"]);
    const withToken = await fetch(`${started.host.url}/hooks/runs/${json.runId}?token=x`, { headers });
    expect(withToken.status).toBe(400);
  });
});

describe("Prefer: wait", () => {
  test("holds the response until the run ends, and confirms that in a header", async () => {
    const started = await startAgent({ held: true, hooks: exposed });
    const answer = ask(started, "hello", { prefer: "respond-async, wait=30" });
    expect(await Promise.race([answer, sleep(150, "still held")])).toBe("still held");
    started.release();
    const { status, applied, json } = await answer;
    expect([status, applied]).toEqual([200, "wait=30"]);
    expect(json).toMatchObject({ ok: true, state: "settled", outcome: "silent", reply: "done 1" });
    expect((await look(started, json.runId)).json).toEqual(json);
  });

  test("gives the usual 202 if the run takes longer", async () => {
    const started = await startAgent({ held: true });
    const { status, applied, json } = await ask(started, "hello", { prefer: "wait=1" });
    expect([status, applied, Object.keys(json)]).toEqual([202, "wait=1", ["ok", "runId", "eventId"]]);
    started.release();
  });

  test("with an invalid value is ignored, and the response comes at once", async () => {
    const started = await startAgent({ held: true });
    for (const prefer of ["wait=soon", "wait", "handling=lenient"]) {
      expect(await ask(started, "hello", { prefer }), prefer).toMatchObject({ status: 202, applied: null });
    }
    started.release();
  });

  test("on a repeated delivery returns the first result at once without a new run", async () => {
    const started = await startAgent({ hooks: exposed });
    const key = { "idempotency-key": "build-7" };
    const first = await ask(started, "hello", key);
    await started.host.settled(first.json.runId);
    const again = await ask(started, "hello", { ...key, prefer: "wait=60" });
    expect(again).toMatchObject({ status: 200, json: { runId: first.json.runId, state: "settled", reply: "done 1" } });
    expect(started.turns()).toBe(1);
  });

  test("also applies to a mapped run", async () => {
    const mappings = [{ match: { path: "build" }, messageTemplate: "Build {{ n }}", deliver: false }];
    const started = await startAgent({ hooks: { ...exposed, mappings } });
    expect(await post(started, "build", { n: 7 }, { prefer: "wait=30" })).toMatchObject({
      status: 200,
      applied: "wait=30",
      json: { ok: true, state: "settled", reply: "done 1" },
    });
  });

  test("on a mapping with several elements waits for all their runs", async () => {
    const mappings = [{ match: { path: "mail" }, forEach: "mails", messageTemplate: "{{ mails[0] }}", deliver: false }];
    const started = await startAgent({ hooks: { ...exposed, mappings } });
    const { status, json } = await post(started, "mail", { mails: ["a", "b", "c"] }, { prefer: "wait=30" });
    expect(status).toBe(200);
    expect(json.runIds).toHaveLength(3);
    expect(json.runId).toBe(json.runIds[0]);
    expect(json.runs.map(({ runId, state }: { runId: string; state: string }) => [runId, state])).toEqual(
      json.runIds.map((id: string) => [id, "settled"]),
    );
  });

  test("keeps the status that a mapping sets, and does not wait if that status has no body", async () => {
    const mappings = [
      { match: { path: "ok" }, messageTemplate: "x", deliver: false, status: 201 },
      { match: { path: "empty" }, messageTemplate: "x", deliver: false, status: 204 },
    ];
    const started = await startAgent({ hooks: { mappings } });
    expect(await post(started, "ok", {}, { prefer: "wait=30" })).toMatchObject({
      status: 201,
      json: { state: "settled" },
    });
    const response = await fetch(`${started.host.url}/hooks/empty`, {
      method: "POST",
      headers: { ...headers, prefer: "wait=30" },
      body: "{}",
    });
    expect([response.status, response.headers.get("preference-applied")]).toEqual([204, null]);
  });

  test("ends with 202 if the gateway closes before the run ends", async () => {
    const started = await startAgent({ held: true });
    const answer = ask(started, "hello", { prefer: "wait=60" });
    await expect.poll(started.turns).toBe(1);
    await sleep(50);
    await started.host.close();
    expect(await answer).toMatchObject({ status: 202, json: { ok: true, runId: expect.any(String) } });
    started.release();
  });

  test("ends when its client disconnects, while the run continues", async () => {
    const started = await startAgent({ held: true });
    const url = new URL(`${started.host.url}/hooks/agent`);
    const gone = httpRequest(url, {
      method: "POST",
      headers: { ...headers, prefer: "wait=60", "idempotency-key": "gone" },
    });
    gone.on("error", () => {});
    gone.end(JSON.stringify({ message: "hello", deliver: false }));
    await expect.poll(started.turns).toBe(1);
    gone.destroy();
    started.release();
    const again = await ask(started, "hello", { "idempotency-key": "gone", prefer: "wait=30" });
    expect(again).toMatchObject({ status: 200, json: { state: "settled" } });
  });
});

test("a stored reply is hidden once hooks.exposeReplies is off", async () => {
  const report = {
    id: "a",
    source: "hooks",
    kind: "agent",
    lane: "l",
    acceptedAt: 0,
    state: "settled",
    attempts: 1,
    decisions: [],
    reply: "said",
  } as const;
  let shown = true;
  const results = createResults({ store: { event: async () => report }, exposeReplies: () => shown });
  expect(await results.get("a")).toMatchObject({ reply: "said" });
  shown = false;
  expect(await results.get("a")).not.toHaveProperty("reply");
});

describe("waiting clients", () => {
  const nobody = { event: async () => null };
  const trusted = () => true;

  test("are limited in number; one more gets an immediate response", async () => {
    const results = createResults({ store: nobody, exposeReplies: () => false, maxWaiting: 2 });
    const { signal } = new AbortController();
    const held = [results.wait("a", 60, { signal, trusted }), results.wait("b", 60, { signal, trusted })];
    expect(await results.wait("c", 60, { signal, trusted })).toEqual({ applied: false });
    results.close();
    expect(await Promise.all(held)).toEqual([{ applied: false }, { applied: false }]);
    expect(await results.wait("d", 60, { signal, trusted })).toEqual({ applied: false });
  });

  test("free their slot when they disconnect or time out", async () => {
    const results = createResults({ store: nobody, exposeReplies: () => false, maxWaiting: 1 });
    const client = new AbortController();
    const left = results.wait("a", 60, { signal: client.signal, trusted });
    client.abort();
    await left;
    expect(await results.wait("a", 0, { signal: new AbortController().signal, trusted })).toEqual({ applied: true });
    expect(await results.wait("a", 0, { signal: AbortSignal.abort(), trusted })).toEqual({ applied: false });
  });
});
