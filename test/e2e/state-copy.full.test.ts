/** A state moves from SQLite to PostgreSQL and back: real processes, a real server, and a copy that is killed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { type Started, start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type GatewayProcess, startGateway } from "../core/cli/gateway-runner.ts";
import { say } from "../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { usePostgres } from "../support/postgres.ts";

const database = usePostgres();
const hookToken = "hooks-of-a-copied-state-0123456789";
const closing: (() => Promise<void>)[] = [];
const values = 20_000;

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Place {
  readonly home: string;
  readonly file: string;
  readonly directory: string;
}

/** A configuration in the home directory, for the state in a directory or in a database. */
function place(home: string, model: OpenAiServer, name: string, state: object = {}): Place {
  const file = join(home, `${name}.jsonc`);
  const config = {
    gateway: { port: 0 },
    state: { dir: name, ...state },
    hooks: { enabled: true, token: hookToken, exposeReplies: true, allowRequestSessionKey: true },
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: { defaults: { model: "local/test-model", heartbeat: { every: "0" } } },
  };
  writeFileSync(file, JSON.stringify(config));
  return { home, file, directory: join(home, name) };
}

async function startAt({ home, file }: Place): Promise<Started<GatewayProcess>> {
  const gateway = startGateway(["gateway", "--config", file], { home });
  await gateway.until(/is ready at/);
  return gateway;
}

async function ask({ directory }: Place, message: string): Promise<string> {
  const { url } = JSON.parse(readFileSync(join(directory, "gateway.json"), "utf8")) as { readonly url: string };
  const response = await fetch(`${url}/hooks/agent`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
    // The main session is not woken, so the model is asked for this run only.
    body: JSON.stringify({ message, sessionKey: "hook:copied", wakeMode: "next-heartbeat" }),
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as { readonly runId: string }).runId;
}

const command = ({ home, file }: Place, ...args: readonly string[]) => run([...args, "--config", file], { home });

/** The run of a webhook without a recipient ends silent. */
async function ends(at: Place, id: string): Promise<void> {
  await expect
    .poll(
      async () => (JSON.parse((await command(at, "why", id, "--json")).out) as { readonly outcome?: string }).outcome,
      {
        timeout: 20_000,
      },
    )
    .toBe("silent");
}

interface Copied {
  readonly copied: boolean;
  readonly resumed: boolean;
  readonly counts: Readonly<Record<string, number>>;
}

async function copy(from: Place, to: string): Promise<Copied> {
  const { out, err } = await command(from, "state", "copy", "--to", to, "--json");
  expect(err).toBe("");
  return JSON.parse(out) as Copied;
}

async function addValues({ directory }: Place): Promise<void> {
  const store = await openSqliteStore({ directory, now: Date.now });
  await Promise.all(Array.from({ length: values }, (_, number) => store.set("plugin", `key ${number}`, { number })));
  await store.close();
}

test("a state moves to PostgreSQL and back, pending work continues, and a killed copy can be resumed", async () => {
  const model = await createOpenAiServer();
  closing.push(() => model.close());
  const home = temporaryHome();
  const url = database.newUrl();
  const sqlite = place(home, model, "first");
  model.script(say("one"), say("never", { firstDelayMs: 60_000 }), say("two"), say("three"));
  const gateway = await startAt(sqlite);
  const ended = await ask(sqlite, "ends before the copy");
  await ends(sqlite, ended);
  const running = await ask(sqlite, "runs when the gateway is killed");
  await expect.poll(() => model.requests.length).toBe(2);

  const refused = await command(sqlite, "state", "copy", "--to", url);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Another gateway")]);
  gateway.child.kill("SIGKILL");
  await gateway.finished;
  await addValues(sqlite);
  const dry = await command(sqlite, "state", "copy", "--to", url, "--dry-run");
  expect(dry.out).toMatch(/^Would copy to postgres:\/\/127\.0\.0\.1:\d+\/postgres: event 3, .*, keyValue 2000\d\.\n$/);

  const killed = start(["state", "copy", "--to", url, "--config", sqlite.file], { home });
  const progress = async (): Promise<string> => {
    const rows = await database.query(url, "SELECT value FROM $schema.kv WHERE key = 'record'").catch(() => []);
    return String(rows[0]?.value ?? "");
  };
  await expect.poll(progress, { interval: 1 }).toContain('"kind":"keyValue"');
  killed.child.kill("SIGKILL");
  expect((await killed.finished).code).toBeNull();
  const shared = place(home, model, "shared", { store: "postgres", url });
  const early = await run(["gateway", "--config", shared.file], { home });
  expect([early.code, early.err]).toEqual([1, expect.stringContaining("unfinished copy")]);

  const there = await copy(sqlite, url);
  expect(there).toMatchObject({ copied: true, resumed: true });
  expect(there.counts.keyValue).toBeGreaterThanOrEqual(values);
  const again = await command(sqlite, "state", "copy", "--to", url);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("it contains a state already")]);

  const second = await startAt(shared);
  await ends(shared, running);
  expect((await command(shared, "why", ended, "--json")).out).toContain('"silent"');
  second.child.kill("SIGTERM");
  await second.finished;

  const back = place(home, model, "back");
  await copy(shared, back.directory);
  const third = await startAt(back);
  await ends(back, await ask(back, "asked after the way back"));
  // The model was handed the whole conversation.
  const texts = model.requests
    .map((request) => JSON.stringify(request))
    .find((request) => request.includes("asked after the way back"));
  for (const text of [
    "ends before the copy",
    "one",
    "runs when the gateway is killed",
    "two",
    "asked after the way back",
  ])
    expect(texts).toContain(text);
  third.child.kill("SIGTERM");
  expect((await third.finished).code).toBe(0);
});
