/** Two gateways as nodes of one PostgreSQL: real processes, a real server, the platform and the model over real HTTP. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { expect, onTestFinished, test } from "vitest";
import { say } from "../openai-server/answers.ts";
import { usePostgres } from "../support/postgres.ts";
import { kitchen } from "./conversation.ts";
import { answered, answers, createNodeGroup, hookToken, personOf, postHook, startPair } from "./node-group.ts";

const database = usePostgres();
const createGroup = () => createNodeGroup(database, onTestFinished);

interface Why {
  readonly outcome?: string;
  readonly attempts: number;
  readonly decisions: readonly { readonly code: string; readonly detail?: string }[];
}

test("one of two nodes receives for a bot; when it is killed, the other does, and nothing is lost or repeated", async () => {
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

test("/activation in a group also applies on the node that receives for the bot after a hand-over", async () => {
  const group = await createNodeGroup(database, onTestFinished, { channel: { allowFrom: ["1001", "*"], groups: { "*": {} } } });
  const { platform, model } = group;
  const ada = personOf(platform);
  const [one, two] = await startPair(group);
  // A node misses what is said before it listens.
  const listening = "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'service-gateway two'";
  await expect.poll(() => database.query(group.url, listening)).toHaveLength(1);
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

test("a node that sleeps past its lease in the middle of a turn writes and sends nothing more; another node ends the turn", async () => {
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
    expect.objectContaining({ verdict: "retry", detail: "its node one did not renew its lease, or was started again" }),
  ]);
});

test("a run that a webhook of one node causes is waited for and looked up on the other", async () => {
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

test("while the database is away, webhooks are answered 503; when it is back, everything goes on by itself", async () => {
  const group = await createGroup();
  const { platform, model } = group;
  model.script(say("before"), say("after"), say("hook"));
  const ada = personOf(platform);
  const one = await group.node("one");
  await one.process.until(/channel connected/);
  platform.act.say(ada, ada, "first");
  await expect.poll(() => answers(platform, ada)).toEqual(["before"]);
  await database.stop();
  const refused = await postHook(one, "agent", { message: "lost?" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  platform.act.say(ada, ada, "second");
  await database.start();
  await expect.poll(() => answers(platform, ada)).toEqual(["before", "after"]);
  await expect.poll(async () => (await postHook(one, "agent", { message: "again" })).status).toBe(202);
});

test("the nodes of the example share their work", async () => {
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
    const { status } = await postHook(node, "agent", { message: "report", channel: "botchat", to: String(ada), deliver: true });
    expect(status).toBe(202);
    // The second node runs the turn, and the first one sends its reply.
    await expect.poll(() => answers(platform, ada).at(-1)).toBe(answer);
  }
  const { out } = await two.command("status", "--json");
  const { nodes } = (JSON.parse(out) as { readonly events: { readonly nodes: readonly { readonly duties: readonly string[] }[] } }).events;
  expect(nodes.map(({ duties }) => duties.includes("account:botchat:default")).sort()).toEqual([false, true]);
});
