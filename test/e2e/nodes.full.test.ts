/**
 * Two gateways as nodes of one PostgreSQL: real processes, a real server, the platform and the model over real HTTP.
 */
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { aroundEach, test } from "vitest";
import { ownFlags, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { say } from "../openai-server/answers.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { freePort } from "../support/ports.ts";
import { openOwnPostgres, usePostgres } from "../support/postgres.ts";
import { kitchen } from "./conversation.ts";
import {
  answered,
  answers,
  createNodeGroup,
  hookToken,
  type Node,
  personOf,
  postHook,
  startPair,
} from "./node-group.ts";

aroundEach(inOwnTest);

const database = usePostgres();
const createGroup = (server = database) => createNodeGroup(server, onTestFinished);

async function metricsOf(node: Node): Promise<string> {
  const own = readFileSync(join(node.home, "state", "gateway-token"), "utf8").trim();
  const response = await fetch(`${node.url()}/metrics`, { headers: { authorization: `Bearer ${own}` } });
  return await response.text();
}

interface Why {
  readonly outcome?: string;
  readonly attempts: number;
  readonly decisions: readonly { readonly code: string; readonly detail?: string }[];
}

test.concurrent("one of two nodes receives for a bot; the other takes over after a kill without loss", async () => {
  const group = await createGroup();
  const { platform, model } = group;
  model.script(say("first answer"), say("second answer"), say("third answer"));
  const ada = personOf(platform);
  const [one, two] = await startPair(group);
  platform.act.say(ada, ada, "to the first");
  await expect.poll(() => answers(platform, ada)).toEqual(["first answer"]);
  // Before its end is stored, the message would rightly be sent again.
  await expect.poll(() => group.ended()).toBe(1);
  const status = await two.command("status");
  expect(status.out).toMatch(/ready at/);
  expect(status.out).toMatch(/node one +alive +renewed its lease .* ago +0 running +account:botchat:default/);
  expect(status.out).toMatch(/botchat:default +standby/);
  expect((await two.command("channels", "status")).out).toMatch(/^botchat:default +standby/);
  // The stored state is that of the node which serves the account.
  const { accounts } = JSON.parse((await one.command("channels", "status", "--json")).out);
  expect(accounts).toMatchObject([{ state: "connected", since: expect.any(Number) }]);
  const metrics = await metricsOf(two);
  expect(metrics).toMatch(/^service_node_up{node="one"} 1\nservice_node_up{node="two"} 1$/m);
  expect(metrics).toMatch(/^service_node_renewal_age_seconds{node="one"} \d+(\.\d+)?$/m);
  expect(metrics).toContain('\nservice_node_duty{node="one",duty="account:botchat:default"} 1\n');
  const page = readFileSync(join(import.meta.dirname, "../../examples/reference/http.md"), "utf8");
  for (const [, name] of metrics.matchAll(/^# TYPE (\S+)/gm)) expect(page).toContain(`| \`${name}\` |`);
  expect(Number(/^service_lease_left_seconds (.*)$/m.exec(metrics)?.[1])).toBeGreaterThan(20);
  one.process.child.kill("SIGKILL");
  const killedAt = performance.now();
  platform.act.say(ada, ada, "to nobody");
  await two.process.until(/channel connected/);
  const takenOverMs = performance.now() - killedAt;
  await expect.poll(() => answers(platform, ada)).toEqual(["first answer", "second answer"]);
  await expect.poll(() => group.ended()).toBe(2);
  expect(takenOverMs).toBeLessThan(15_000);
  // A clean stop hands the bot over at once.
  const three = await group.node("three");
  two.process.child.kill("SIGTERM");
  await two.process.finished;
  const stoppedAt = performance.now();
  await three.process.until(/channel connected/);
  expect(performance.now() - stoppedAt).toBeLessThan(5_000);
  platform.act.say(ada, ada, "to the third");
  await expect.poll(() => answers(platform, ada)).toEqual(["first answer", "second answer", "third answer"]);
});

test.concurrent("a node that sleeps past its lease in a turn sends nothing; another ends the turn", async () => {
  const group = await createGroup();
  const { platform, model } = group;
  model.script(say("too late", { firstDelayMs: 3_000 }), say("in time"));
  const ada = personOf(platform);
  const [one, two] = await startPair(group);
  platform.act.say(ada, ada, "question");
  await expect.poll(() => model.requests.length).toBe(1);
  const [stored] = await database.query(group.url, "SELECT id FROM $schema.inbox");
  const first = String(stored?.id);
  one.process.child.kill("SIGSTOP");
  await group.endLease("one");
  await expect.poll(() => answers(platform, ada)).toEqual(["in time"]);
  one.process.child.kill("SIGCONT");
  await one.process.until(/this node lost its lease/);
  // Its writes are refused because of the lease, and not as a fault.
  const log = await one.process.until(/another node has taken over an event/);
  expect(log).not.toMatch(/an attempt failed|could not be handed back/);
  await expect.poll(() => model.requests.length).toBe(2);
  model.script(say("afterwards"));
  platform.act.say(ada, ada, "another question");
  await expect.poll(() => answers(platform, ada)).toEqual(["in time", "afterwards"]);
  const why = await two.command("why", first, "--json");
  const { outcome, attempts, decisions } = JSON.parse(why.out) as Why;
  expect([outcome, attempts]).toEqual(["answered", 2]);
  const codes = decisions.map(({ code }) => code);
  expect(codes.filter((code) => code === "sent")).toHaveLength(1);
  expect(decisions.filter(({ code }) => code === "lease_lost")).toEqual([
    expect.objectContaining({
      verdict: "retry",
      detail: "its node one did not renew its lease, or was started again",
    }),
  ]);
});

test.concurrent("a node whose clock is an hour ahead stores database times, so nothing is due too late", async () => {
  const group = await createGroup();
  const ahead = `data:text/javascript,${encodeURIComponent("const now = Date.now; Date.now = () => now() + 3_600_000;")}`;
  const one = await group.node("one", { nodeArgs: ["--import", ahead, ...ownFlags] });
  await postHook(one, "wake", { text: "the backup is done", mode: "now" });
  const [row] = await database.query(group.url, "SELECT accepted_at AS accepted, due FROM $schema.inbox");
  expect(Math.abs(Number(row?.accepted) - Date.now())).toBeLessThan(60_000);
  expect(Math.abs(Number(row?.due) - Date.now())).toBeLessThan(60_000);
});

test.concurrent("a run from a webhook on one node can be awaited and looked up on another", async () => {
  const group = await createGroup();
  const { model } = group;
  model.script(say("the reply", { firstDelayMs: 1_500 }));
  const [one, two] = [await group.node("one"), await group.node("two")];
  const accepted = (await (await postHook(one, "agent", { message: "work" })).json()) as { readonly runId: string };
  const looked = await fetch(`${two.url()}/hooks/runs/${accepted.runId}?wait=30`, {
    headers: { authorization: `Bearer ${hookToken}`, prefer: "wait=30" },
  });
  expect(await looked.json()).toMatchObject({ runId: accepted.runId });
});

test.concurrent("webhooks get 503 while the database is down; everything resumes by itself afterwards", async () => {
  const own = await openOwnPostgres();
  const group = await createGroup(own);
  const { platform, model } = group;
  model.script(say("before"), say("after"), say("hook"));
  const ada = personOf(platform);
  const one = await group.node("one");
  await one.process.until(/channel connected/);
  platform.act.say(ada, ada, "first");
  await expect.poll(() => answers(platform, ada)).toEqual(["before"]);
  await own.stop();
  const refused = await postHook(one, "agent", { message: "lost?" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  const metrics = await metricsOf(one);
  expect(metrics).toContain("\nservice_store_up 0\n");
  expect(metrics).not.toMatch(/^service_(waiting_events|node_up)\b/m);
  platform.act.say(ada, ada, "second");
  await own.start();
  await expect.poll(() => answers(platform, ada)).toEqual(["before", "after"]);
  await expect.poll(async () => (await postHook(one, "agent", { message: "again" })).status).toBe(202);
});

test.concurrent("a node that starts while the database is down reports not ready until it is back", async () => {
  const own = await openOwnPostgres();
  const password = "not-to-be-shown";
  const home = temporaryHome();
  const file = join(home, "config.jsonc");
  const port = await freePort();
  const url = new URL(own.newUrl());
  url.password = password;
  const config = {
    gateway: { port },
    state: { dir: "state", store: "postgres", url: url.href },
    hooks: { enabled: true, token: hookToken },
  };
  writeFileSync(file, JSON.stringify(config));
  await own.stop();
  const begin = () => startGateway(["gateway", "--config", file], { home });
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    return { status: response.status, retry: response.headers.get("retry-after"), body: await response.text() };
  };
  const stopped = begin();
  await stopped.until(/the gateway waits for its database/);
  const command = (...args: readonly string[]) => run([...args, "--config", file], { home });
  expect((await command("restart")).err).toContain("The gateway starts, and waits for its database.");
  expect((await command("stop")).out).toMatch(/^The gateway has stopped \(process \d+\)\.$/m);
  expect((await stopped.finished).code).toBe(0);

  const gateway = begin();
  const said = await gateway.until(/the gateway waits for its database.*ECONNREFUSED/);
  expect(said).toContain(`postgres://${url.host}/postgres`);
  await expect
    .poll(() =>
      ask("/healthz").then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  expect(await ask("/readyz")).toMatchObject({ status: 503, body: '{"ok":false}' });
  const token = readFileSync(join(home, "state", "gateway-token"), "utf8").trim();
  const detailed = await ask("/readyz", { headers: { authorization: `Bearer ${token}` } });
  expect(detailed.body).toContain("waits for its database: The store postgres cannot be opened");
  expect(await ask("/hooks/wake", { method: "POST", body: "{}" })).toMatchObject({ status: 503, retry: "5" });
  await own.start();
  const log = await gateway.until(/is ready at/);
  expect(log).toContain("the database is available again");
  expect(log + detailed.body).not.toContain(password);
  await expect.poll(async () => (await ask("/readyz")).status).toBe(200);
});

test.concurrent("a permanent error, such as a missing database, ends the start at once", async () => {
  const home = temporaryHome();
  const file = join(home, "config.jsonc");
  const missing = new URL(database.newUrl());
  missing.pathname = "/nothing";
  writeFileSync(
    file,
    JSON.stringify({ gateway: { port: 0 }, state: { dir: "state", store: "postgres", url: missing.href } }),
  );
  const { code, err } = await run(["gateway", "--config", file], { home });
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: The store postgres cannot be opened at .*database "nothing" does not exist/),
  ]);
});

const hasCaddy = spawnSync("caddy", ["version"]).status === 0;

/** The proxy of the example publishes webhooks and nothing else, and goes on with the node that is left. */
async function expectProxied(nodes: readonly [Node, Node]): Promise<void> {
  const home = temporaryHome();
  const port = await freePort();
  const text = readFileSync(join(import.meta.dirname, "../../examples/several-nodes/Caddyfile"), "utf8");
  const [one, two] = nodes.map((node) => new URL(node.url()).host);
  const local = text
    .replace("gateway.example.org {", `http://127.0.0.1:${port} {`)
    .replace("gateway-1:18789", one ?? "")
    .replace("gateway-2:18789", two ?? "");
  writeFileSync(join(home, "Caddyfile"), `{\n\tadmin off\n}\n${local}`);
  const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", join(home, "Caddyfile")], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: "ignore",
  });
  onTestFinished(() => void caddy.kill("SIGKILL"));
  const wake = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/hooks/wake`, {
      method: "POST",
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "through the proxy", mode: "next-heartbeat" }),
    }).catch(() => undefined);
    return response?.status;
  };
  await expect.poll(wake).toBe(200);
  for (const path of ["/metrics", "/gateway/describe", "/readyz"])
    expect([path, (await fetch(`http://127.0.0.1:${port}${path}`)).status]).toEqual([path, 404]);
  nodes[0].process.child.kill("SIGTERM");
  await nodes[0].process.finished;
  await expect.poll(wake).toBe(200);
}

test.concurrent("the nodes in the example share their work", async () => {
  const group = await createGroup();
  const { platform, model } = group;
  const ada = personOf(platform);
  const text = readFileSync(join(import.meta.dirname, "../../examples/several-nodes/config.jsonc"), "utf8");
  const written = parse(text.replaceAll("123456789", String(ada))) as Record<string, Record<string, object>>;
  const { gateway, state, channels, models, ...rest } = written;
  const config = {
    ...rest,
    gateway: { ...gateway, host: "127.0.0.1", port: 0 },
    state: { ...state, dir: "state" },
    channels: { botchat: { ...channels?.botchat, apiRoot: platform.url } },
    models: { providers: { local: { ...models?.providers, api: "openai-compatible", baseUrl: model.url } } },
  };
  const [one, two] = [await group.node("one", { config }), await group.node("two", { config })];
  await one.process.until(/channel connected/);
  platform.act.say(ada, ada, "/whoami");
  await expect.poll(() => answers(platform, ada).join()).toContain(String(ada));
  model.script(say("from the first"), say("from the second"));
  for (const [node, answer] of [
    [one, "from the first"],
    [two, "from the second"],
  ] as const) {
    const { status } = await postHook(node, "agent", {
      message: "report",
      channel: "botchat",
      to: String(ada),
      deliver: true,
    });
    expect(status).toBe(202);
    // The second node runs the turn, and the first one sends its reply.
    await expect.poll(() => answers(platform, ada).at(-1)).toBe(answer);
  }
  const { out } = await two.command("status", "--json");
  const { nodes } = (
    JSON.parse(out) as { readonly events: { readonly nodes: readonly { readonly duties: readonly string[] }[] } }
  ).events;
  expect(nodes.map(({ duties }) => duties.includes("account:botchat:default")).sort()).toEqual([false, true]);
  if (hasCaddy) await expectProxied([one, two]);
});

// These look at the connections of the whole server, hence no other nodes run meanwhile.
test("/activation in a group also applies on the node that takes over the bot", async () => {
  const group = await createNodeGroup(database, onTestFinished, {
    channel: { allowFrom: ["1001", "*"], groups: { "*": {} } },
  });
  const { platform, model } = group;
  const ada = personOf(platform);
  const [one, two] = await startPair(group);
  // A node misses what is said before it listens, which it does once it is ready.
  await expect.poll(async () => (await fetch(`${two.url()}/readyz`)).status).toBe(200);
  platform.act.say(ada, kitchen, "/activation@e2e_bot always");
  await answered(platform, kitchen, /every message here/);
  await expect.poll(() => group.ended()).toBe(1);
  one.process.child.kill("SIGTERM");
  await one.process.finished;
  await two.process.until(/channel connected/);
  model.script(say("unasked"));
  platform.act.say(ada, kitchen, "nobody is mentioned");
  await answered(platform, kitchen, "unasked");
});

test("with only the address, commands read the shared state from any machine and leave no files there", async () => {
  const group = await createGroup();
  group.model.script(say("done"));
  const node = await group.node("one");
  const accepted = (await (await postHook(node, "agent", { message: "work" })).json()) as { readonly runId: string };
  await expect.poll(() => group.ended()).toBeGreaterThan(0);
  const home = temporaryHome();
  const file = join(home, "elsewhere.jsonc");
  const state = { store: "postgres", url: { env: "DATABASE_URL" } };
  writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, state }));
  const read = async (...args: readonly string[]) =>
    await run([...args, "--config", file], { home, env: { DATABASE_URL: group.url } });
  const status = await read("status");
  expect(status.out).toMatch(/gateway +not running on this machine/);
  expect(status.out).toMatch(/node one +alive/);
  expect((await read("why", accepted.runId)).out).toMatch(new RegExp(`^silent.*\\n[^]*event +${accepted.runId}`));
  expect((await read("events", "list")).out).toContain(accepted.runId);
  await expect.poll(async () => (await read("sessions", "list")).out).toContain("agent:main:main");
  const doctor = await read("doctor");
  expect([doctor.code, doctor.out]).toEqual([
    0,
    expect.stringMatching(/✓ +store +PostgreSQL 1\d\.\d+.* has what the store needs/),
  ]);
  const away = await run(["doctor", "--config", file], {
    home,
    env: { DATABASE_URL: "postgres://postgres@127.0.0.1:1/postgres" },
  });
  expect([away.code, away.out]).toEqual([
    1,
    expect.stringMatching(/✗ +state +The store postgres cannot be opened at .*ECONNREFUSED/),
  ]);
  expect(readdirSync(home)).toEqual(["elsewhere.jsonc"]);
});
