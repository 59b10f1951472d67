import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GatewayDescription } from "../../../core/gateway/gateway.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { type Finished, start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";
import { startGateway } from "./gateway-runner.ts";

const token = "hook-token-of-the-cli-tests";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

const config = {
  log: { level: "info" },
  hooks: {
    token,
    exposeReplies: true,
    mappings: [
      {
        id: "push",
        match: { path: "git", headers: { "x-event": "push" } },
        name: "Git",
        messageTemplate: "Push to {{ repo }} by {{ who }}",
        deliver: false,
      },
      {
        id: "issue",
        match: { path: "git", where: { issue: { exists: true } } },
        messageTemplate: "{{ issue.title }}",
        deliver: false,
      },
      {
        id: "shaped",
        match: { path: "shaped" },
        transform: { module: "shape.ts" },
        messageTemplate: "{{ a }}",
        deliver: false,
      },
      { id: "each", match: { path: "each" }, forEach: "items", messageTemplate: "{{ items[0] }}", deliver: false },
      {
        id: "late",
        match: { path: "git", where: { "issue.id": { exists: true }, issue: { exists: true } } },
        messageTemplate: "x",
      },
    ],
  },
};

const shape = `export default ({ payload }) => {
  if (payload.skip) return null;
  if (payload.fail) throw new Error("no such thing");
  return payload.agentId ? { agentId: payload.agentId } : { message: "shaped " + payload.a };
};
`;

let host: TestHost;
const directory = temporaryDirectory();

beforeAll(async () => {
  mkdirSync(join(directory, "transforms"));
  writeFileSync(join(directory, "transforms", "shape.ts"), shape);
  host = await createTestHost({
    directory,
    config,
    answer: (turn) => `answer to ${turn.inbound.text.match(/Push to \w+|shaped \w+|hello/)?.[0] ?? "it"}`,
    allowErrors: [/hooks\.mappings\[4\]/],
  });
});
afterAll(async () => {
  await host.close();
  removeDirectory(directory);
});

const files = () => ["--config", host.configFile, "--state", join(directory, "state")];

async function hooks(...args: readonly string[]): Promise<Finished> {
  return await run(["hooks", ...args, ...files()], { home: temporaryHome() });
}

async function json(...args: readonly string[]) {
  const { out } = await hooks(...args, "--json");
  // biome-ignore lint/suspicious/noExplicitAny: what the command prints is what is tested.
  return JSON.parse(out) as any;
}

async function send(
  path: string,
  body: unknown,
  more: Record<string, string> = {},
): Promise<{ status: number; eventId: string; runIds?: string[] }> {
  const response = await fetch(`${host.url}/hooks/${path}`, {
    method: "POST",
    headers: { ...headers, ...more },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const answer = text === "" ? {} : JSON.parse(text);
  if (answer.eventId !== undefined) for (const id of answer.eventIds ?? [answer.eventId]) await host.settled(id);
  return { status: response.status, ...answer };
}

const push = { "x-event": "push", cookie: "session=1" };

function fileWith(content: unknown): string {
  const file = join(temporaryHome(), "delivery.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

describe("hooks list", () => {
  test("shows the endpoints, then the mappings in order, with their problems", async () => {
    const shown = await hooks("list");
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/✓ +shaped +\/hooks\/shaped +mapping +agent by shape\.ts +token/);
    expect(shown.out).toContain("hooks.mappings[4] is never reached");
    const listed = await json("list");
    expect(listed).toMatchObject({ enabled: true, path: "/hooks" });
    expect(listed.hooks.map(({ id, kind, path, state }: Record<string, string>) => [id, kind, path, state])).toEqual([
      ["wake", "endpoint", "wake", "ok"],
      ["agent", "endpoint", "agent", "ok"],
      ["runs", "endpoint", "runs/RUN", "ok"],
      ["push", "mapping", "git", "ok"],
      ["issue", "mapping", "git", "ok"],
      ["shaped", "mapping", "shaped", "ok"],
      ["each", "mapping", "each", "ok"],
      ["late", "mapping", "git", "error"],
    ]);
  });

  test("works without a state, and reports a disabled hook server", async () => {
    const home = temporaryHome();
    const { code, out } = await run(["hooks", "list"], { home });
    expect(code).toBe(0);
    expect(out).toContain("The hook server is off");
    expect(existsSync(join(home, ".service"))).toBe(false);
  });
});

describe("hooks deliveries", () => {
  test("lists the deliveries with their outcomes, newest first, without the summaries that follow them", async () => {
    const agent = await send("agent", { message: "hello", deliver: false });
    const mapped = await send("git", { repo: "svc", who: "Ann" }, push);
    const { deliveries } = await json("deliveries", "--limit", "2");
    expect(deliveries).toEqual([
      {
        id: mapped.eventId,
        at: expect.any(Number),
        hook: "push",
        path: "git",
        kind: "agent",
        state: "settled",
        outcome: "silent",
        reason: "not_asked",
        ms: expect.any(Number),
        attempts: 1,
      },
      expect.objectContaining({ id: agent.eventId, hook: "agent", path: "agent" }),
    ]);
    const { out } = await hooks("deliveries", "-n", "1");
    expect(out).toMatch(
      new RegExp(
        `^when +delivery +hook +end +took +attempts\\n\\S+ \\S+ +${mapped.eventId} +push +silent ` +
          `\\(not_asked\\) +\\d+ m?s +1\\n$`,
      ),
    );
  });

  test("--failed lists deliveries that failed in their mapping and requests refused on arrival", async () => {
    expect((await send("shaped", { fail: true })).status).toBe(500);
    await fetch(`${host.url}/hooks/wake`, { method: "POST", headers: { authorization: "Bearer wrong" }, body: "{}" });
    // Refusals are written behind their answers, once a second.
    await expect
      .poll(async () => (await json("deliveries", "--failed")).refused.at(-1))
      .toMatchObject({ code: "unauthorized", status: 401, subPath: "wake" });
    const { deliveries } = await json("deliveries", "--failed");
    expect(deliveries[0]).toMatchObject({
      hook: "shaped",
      path: "shaped",
      outcome: "failed",
      reason: "mapping_failed",
    });
    expect(deliveries.every(({ outcome }: { outcome: string }) => outcome === "failed" || outcome === "refused")).toBe(
      true,
    );
    expect((await hooks("deliveries", "--failed")).out).toMatch(
      /\nRefused on arrival\n.*\n.* wake +127\.0\.0\.1 +401 unauthorized The hook token is missing or wrong\.\n$/,
    );
    expect((await hooks("deliveries")).out).toMatch(
      /1 request was refused on arrival, .*`.* hooks deliveries --failed` lists them\./,
    );
  });

  test("rejects an out-of-range limit as wrong usage", async () => {
    for (const limit of ["1001", "x"]) expect((await hooks("deliveries", "--limit", limit)).code, limit).toBe(2);
  });
});

describe("hooks show", () => {
  test("shows the payload, the mapped result, the decisions and the reply, but no credential", async () => {
    const { eventId } = await send("git?a=b", { repo: "svc", who: "Ann" }, push);
    const { code, out } = await hooks("show", eventId.slice(0, -2));
    expect(code).toBe(0);
    for (const part of [
      "silent (not_asked)",
      "push (agent)",
      "x-event",
      '"repo": "svc"',
      "Push to svc by Ann",
      "turn",
      "answer to Push to svc",
    ]) {
      expect(out, part).toContain(part);
    }
    expect(out).toMatch(/query\n +a +b/);
    expect(out).not.toContain(token);
    expect(out).not.toContain("session=1");
    expect(await json("show", "last")).toMatchObject({
      id: eventId,
      hook: "push",
      delivery: { path: "git", query: { a: "b" }, headers: { "x-event": "push" }, kind: "json" },
      reply: "answer to Push to svc",
    });
  });

  test("shows why a delivery did not run", async () => {
    await send("shaped", { fail: true });
    const { out } = await hooks("show", "last");
    expect(out).toContain("failed (mapping_failed)");
    expect(out).toContain("no such thing");
    expect(out).toContain("hooks.mappings[2].transform.module");
  });

  test("does not let text of a sender control the terminal", async () => {
    await send("git", { repo: "a\u001b[2Jb\u009b31m\u202Ec\r\nd", who: "x" }, push);
    const { out } = await hooks("show", "last");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(out).toContain("\\u001b[2J");
  });

  test("accepts only deliveries, and says so", async () => {
    expect(await hooks("show", "nothing")).toMatchObject({
      code: 1,
      err: expect.stringContaining("The delivery nothing does not exist."),
    });
  });
});

describe("hooks replay", () => {
  test("runs an accepted delivery again unchanged, under its own id", async () => {
    const { eventId } = await send("git", { repo: "svc", who: "Ann" }, push);
    const { code, out } = await hooks("replay", eventId);
    expect([code, out]).toEqual([0, `${eventId} runs again.\n`]);
    await expect.poll(async () => (await host.settled(eventId)).decisions.length).toBeGreaterThan(0);
  });

  test("sends a delivery that failed in its mapping through the current mapping", async () => {
    const file = join(directory, "transforms", "shape.ts");
    expect((await send("shaped", { fail: true, a: "disk" })).status).toBe(500);
    const failed = await hooks("replay", "last");
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("hooks.mappings[2].transform.module") });
    // A failed replay is not logged: the command says why.
    expect(failed.err).toMatch(/failed again: .+ \(shape\.ts:\d+:\d+\)/);
    try {
      writeFileSync(file, shape.replace("payload.fail", "false"));
      const replayed = await json("replay", "last");
      expect(replayed).toMatchObject({ mapping: "shaped", eventIds: [expect.any(String)], running: true });
      expect(await host.settled(replayed.eventIds[0])).toMatchObject({
        outcome: "silent",
        reply: "answer to shaped disk",
      });
    } finally {
      writeFileSync(file, shape);
    }
  });

  test("--remap sends a successful delivery through its mapping again, as a new run", async () => {
    const { eventId } = await send("git", { repo: "svc", who: "Ann" }, { ...push, "idempotency-key": "push-1" });
    const replayed = await json("replay", eventId, "--remap");
    expect(replayed).toMatchObject({ mapping: "push", eventIds: [expect.any(String)] });
    expect(replayed.eventIds[0]).not.toBe(eventId);
    expect(await host.settled(replayed.eventIds[0])).toMatchObject({ reply: "answer to Push to svc" });
  });

  test("refuses --remap for a delivery to an endpoint and says what to do instead", async () => {
    const { eventId } = await send("agent", { message: "hello", deliver: false });
    expect(await hooks("replay", eventId, "--remap")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no mapping handles"),
    });
  });

  test("reports a delivery whose mapping requires no run", async () => {
    expect((await send("shaped", { skip: true })).status).toBe(204);
    expect(await hooks("replay", "last")).toMatchObject({
      code: 0,
      out: expect.stringContaining("which needed no run"),
    });
  });
});

describe("hooks test", () => {
  test("names the mapping, why others do not match, the rendered text and the run, and queues nothing", async () => {
    // Events of the tests before may still come to their end.
    const events = async () => {
      const response = await host.fetch("/gateway/describe");
      const { gateway } = (await response.json()) as { readonly gateway: Pick<GatewayDescription, "stats"> };
      const { waiting, running, settled } = gateway.stats;
      return waiting + running + Object.values(settled).reduce((sum, count) => sum + count, 0);
    };
    const before = await events();
    const file = fileWith({ $delivery: 1, headers: { "X-Event": "push" }, payload: { repo: "svc", who: "Ann" } });
    const { code, out } = await hooks("test", "git", file);
    expect(code).toBe(0);
    expect(out).toMatch(/^one agent run by push \(hooks\.mappings\[0\]\)\n/);
    expect(out).toMatch(/✓ +push +hooks\.mappings\[0\] +takes it/);
    expect(out).toContain("payload.issue is missing");
    expect(out).toContain("Push to svc by Ann");
    expect(await json("test", "git", file)).toMatchObject({
      asked: [{ id: "push", taken: true }, { id: "issue", taken: false }, {}, {}, {}],
      steps: [{ rendered: { message: "Push to svc by Ann", name: "Git", deliver: false } }],
      runs: [{ action: "agent", wrapped: true, asked: { request: { agentId: "main", name: "Git" } } }],
    });
    expect(await events()).toBe(before);
  });

  test("--header gives the delivery headers that a bare payload does not have", async () => {
    const file = join(temporaryDirectory(), "bare.json");
    writeFileSync(file, JSON.stringify({ repo: "house", who: "Ada" }));
    expect(await hooks("test", "git", file)).toMatchObject({ code: 1 });
    const told = await hooks("test", "git", file, "--header", "X-Event: push", "--header", "X-Other: 1");
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining("Push to house by Ada") });
    expect(await hooks("test", "git", file, "--header", "push")).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not NAME: VALUE"),
    });
  });

  test("runs the transform without a gateway", async () => {
    const home = temporaryHome();
    const at = ["--config", host.configFile, "--state", join(home, "nowhere"), "--json"];
    const shaped = await run(["hooks", "test", "shaped", fileWith({ a: "disk" }), ...at], { home });
    expect(JSON.parse(shaped.out)).toMatchObject({
      steps: [{ rendered: { message: "disk" }, transform: { module: "shape.ts", result: { message: "shaped disk" } } }],
      runs: [{ asked: { message: "shaped disk" } }],
    });
    const skipped = await run(["hooks", "test", "shaped", fileWith({ skip: true }), ...at], { home });
    expect([skipped.code, JSON.parse(skipped.out)]).toMatchObject([0, { nothing: "transform_ignored", runs: [] }]);
    expect(existsSync(join(home, "nowhere"))).toBe(false);
  });

  test("shows the response to the sender, and exits with 1, if a mapping fails or none matches", async () => {
    const failed = await hooks("test", "shaped", fileWith({ fail: true }));
    expect(failed.code).toBe(1);
    expect(failed.out).toContain("answered 500 mapping_failed");
    expect(failed.out).toContain("no such thing");
    const list = await hooks("test", "each", fileWith({ items: 7 }));
    expect([list.code, list.out]).toEqual([1, expect.stringContaining("items must be a list")]);
    const nobody = await hooks("test", "nobody", fileWith({}));
    expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining("no mapping takes a delivery to nobody")]);
    const endpoint = await hooks("test", "/agent", fileWith({ message: "x" }));
    expect([endpoint.code, endpoint.err]).toEqual([2, expect.stringContaining("agent is an endpoint of its own")]);
  });

  test("accepts a mapping id as the path, as hooks send does", async () => {
    const file = fileWith({ $delivery: 1, headers: { "X-Event": "push" }, payload: { repo: "svc", who: "Ann" } });
    expect(await hooks("test", "push", file)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^one agent run by push/),
    });
  });

  test("shows each element of a list separately", async () => {
    const { steps, runs } = await json("test", "each", fileWith({ items: ["a", "b"] }));
    expect(steps.map(({ rendered }: { rendered: { message: string } }) => rendered.message)).toEqual(["a", "b"]);
    expect(runs).toHaveLength(2);
  });

  test("names a file that is not a delivery", async () => {
    expect(await hooks("test", "git", fileWith("{"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("it is not valid JSON"),
    });
  });
});

describe("hooks record", () => {
  const record = (
    name: string,
    { more = [], begin = startGateway }: { more?: readonly string[]; begin?: typeof startGateway } = {},
  ) => {
    const home = temporaryHome();
    const file = join(home, "recorded.json");
    const started = begin(["hooks", "record", name, "--out", file, ...files(), ...more], { home });
    return { file, started };
  };

  test("saves the next delivery as a file without secrets, ready for hooks test", async () => {
    const { file, started } = record("git");
    await started.until(/Waiting for the next delivery to git/);
    await send("shaped", { a: "not this one" });
    await send("git?sig=abc&page=1", { repo: "svc", who: "Ann", api_key: "k-1", note: `uses ${token}` }, push);
    const { code, out } = await started.finished;
    expect(code).toBe(0);
    expect(out).toContain("3 values that looked like secrets removed");
    const saved = JSON.parse(readFileSync(file, "utf8"));
    expect(saved).toMatchObject({
      $delivery: 1,
      path: "git",
      query: { sig: "[removed]", page: "1" },
      payload: { repo: "svc", who: "Ann", api_key: "[removed]", note: "uses [removed]" },
    });
    expect(saved.headers["x-event"]).toBe("push");
    expect(JSON.stringify(saved)).not.toMatch(new RegExp(`${token}|session=1|k-1`));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await json("test", "git", file)).toMatchObject({ runs: [{ asked: { message: "Push to svc by Ann" } }] });
  });

  test("works for a name without a mapping", async () => {
    const unmapped = record("brand/new");
    await unmapped.started.until(/Waiting/);
    expect((await send("brand/new", { a: 1 })).status).toBe(404);
    expect((await unmapped.started.finished).code).toBe(0);
    expect(JSON.parse(readFileSync(unmapped.file, "utf8"))).toMatchObject({ path: "brand/new", payload: { a: 1 } });
  });

  test("records nothing from an unauthenticated sender", async () => {
    const { file, started } = record("git", { more: ["--timeout", "1"] });
    await started.until(/Waiting/);
    await fetch(`${host.url}/hooks/git`, { method: "POST", headers: { authorization: "Bearer wrong" }, body: "{}" });
    expect(await started.finished).toMatchObject({
      code: 1,
      err: expect.stringContaining("no delivery arrived at git within 1.0 s"),
    });
    expect(existsSync(file)).toBe(false);
  });

  test("exits cleanly on Ctrl-C and saves nothing", async () => {
    const { file, started } = record("git", { begin: start });
    await started.until(/Waiting/);
    started.child.kill("SIGINT");
    expect(await started.finished).toMatchObject({
      code: 1,
      err: expect.stringContaining("Nothing was recorded: it was interrupted"),
    });
    expect(existsSync(file)).toBe(false);
  });

  test("requires a running gateway and a name", async () => {
    const home = temporaryHome();
    const alone = await run(["hooks", "record", "git", "--out", join(home, "x.json")], { home });
    expect(alone).toMatchObject({ code: 1, err: expect.stringContaining("No gateway is running on") });
    expect((await hooks("record", "/")).code).toBe(2);
  });
});

test("a field missing from the payload is named in hooks test, hooks show and why, and once in the log", async () => {
  const { eventId } = await send("git", { repo: "house", whom: "ada" }, { "x-event": "push" });
  await send("git", { repo: "house", whom: "ada" }, { "x-event": "push" });
  const detail = "`who` is not in the payload; it has repo, whom";
  const path = "hooks.mappings[0].messageTemplate";
  const found = { verdict: "pass", code: "template_name_absent", detail, path };
  await expect.poll(async () => (await json("show", eventId)).decisions).toContainEqual(expect.objectContaining(found));
  const why = await run(["why", eventId, ...files()], { home: temporaryHome() });
  expect(why.out).toContain(detail);
  const payload = join(directory, "absent.json");
  writeFileSync(payload, JSON.stringify({ repo: "house" }));
  const tried = await hooks("test", "git", payload, "--header", "x-event: push");
  expect(tried.out).toContain(`absent\n  ! \`who\` is not in the payload; it has repo (${path})`);
  const log = readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8");
  // Earlier deliveries of this file lacked it too.
  const lines = log.split("\n").filter((line) => line.includes("`who` is not in the payload"));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 30,
      hook: "push",
      path,
      msg: expect.stringContaining("a template names a field"),
    }),
  ]);
});

test("a delivery refused because its only field is missing lists the fields in the payload", async () => {
  const refused = await send("git", { issue: { titel: "Doors" } });
  expect(refused.status).toBe(400);
  const tried = await hooks("test", "git", fileWith({ issue: { titel: "Doors" } }));
  expect(tried.out).toContain("`issue.title` is not in the payload; `issue` has titel.");
});

test("hooks test shows a message without an agent as Markdown, as people see it, and with triple braces", async () => {
  const home = temporaryHome();
  const [file, payload] = [join(home, "shown.jsonc"), join(home, "payload.json")];
  const mapping = { match: { path: "alert" }, deliverOnly: true, messageTemplate: "**{{ title }}** {{{ note }}}" };
  writeFileSync(file, JSON.stringify({ hooks: { enabled: true, token, mappings: [mapping] } }), { mode: 0o600 });
  writeFileSync(payload, JSON.stringify({ title: "__init__.py [x](http://e.example)", note: "*now*" }));
  const tried = await run(["hooks", "test", "alert", payload, "--config", file], { home });
  expect(tried.out).toContain("message      **\\_\\_init\\_\\_.py \\[x\\](http://e.example)** *now*");
  expect(tried.out).toContain("people read\n  message  __init__.py [x](http://e.example) now");
  expect(tried.out).toContain(
    "with {{{ }}} in place of {{ }}, people would read\n  message  init.py x (http://e.example) now",
  );
});
