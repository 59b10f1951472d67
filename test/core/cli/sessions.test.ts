import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

let host: TestHost;

beforeAll(async () => {
  host = await createTestHost({
    config: { hooks: { allowRequestSessionKey: true } },
    answer: ({ inbound }) => `echo of ${inbound.text}\nin two lines`,
  });
  await host.say("before the new one");
  await host.say("/new");
  for (const text of ["first", "second", "third"]) await host.say(text);
  await host.deliver("agent", {
    message: "count\u001b[2J the invoices",
    sessionKey: "hook:invoices",
    sessionMode: "persistent",
    wakeMode: "next-heartbeat",
    deliver: false,
  });
  const group = { chat: "-500", group: true, mention: true };
  await host.say("/think low", group);
  await host.say("hello group", group);
});
afterAll(() => host.close());

const sessions = async (...args: readonly string[]) =>
  await run(["sessions", ...args, "--config", host.configFile], { home: temporaryHome() });

describe("sessions list", () => {
  test("lists every conversation, including hook runs, most recently used first", async () => {
    const { code, out } = await sessions("list");
    expect(code).toBe(0);
    const rows = out.trimEnd().split("\n").slice(1);
    expect(rows[0]).toMatch(/^(just now|\d+ s ago) +agent:main:loopback:group:-500 +main +2 +thinking low$/);
    expect(rows.find((row) => row.includes("hook:invoices"))).toMatch(/ hook:invoices +main +2 *$/);
    expect(rows.find((row) => row.includes("agent:main:main"))).toMatch(/ agent:main:main +main +\d+ *$/);
    expect(rows).toHaveLength(3);
    const listed = JSON.parse((await sessions("list", "--limit", "1", "--json")).out);
    expect(listed).toEqual({
      sessions: [
        {
          key: "agent:main:loopback:group:-500",
          agentId: "main",
          generation: 0,
          settings: { thinking: "low" },
          messages: 2,
          updatedAt: expect.any(Number),
        },
      ],
    });
  });

  test("says which values --limit accepts", async () => {
    expect(await sessions("list", "--limit", "0")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--limit must be from 1 to 1000"),
    });
  });
});

describe("sessions show", () => {
  test("shows the messages, their recipients, and the event that `why` explains", async () => {
    const { code, out } = await sessions("show", "agent:main:main");
    expect(code).toBe(0);
    expect(out).toMatch(/^agent:main:main\n\n {2}agent +main\n/);
    expect(out).toMatch(/ {2}last recipient +loopback, account default, chat owner\n/);
    expect(out).toMatch(/ {2}generation +1 of 0 to 1\n/);
    expect(out).toMatch(
      /\n[-\d]+ [:\d]+ {2}user {2}(\w+)\n {2}\[loopback [^\]]+\] third\n[-\d]+ [:\d]+ {2}assistant {2}\1\n {2}echo of third\n {2}in two lines\n/,
    );
    expect(out).not.toContain("before the new one");
    const [, event = ""] = /user {2}(\w+)\n {2}[^\n]* first\n/.exec(out) ?? [];
    const why = await run(["why", event, "--config", host.configFile], {
      home: temporaryHome(),
    });
    expect(why.out).toMatch(/^answered/);
  });

  test("accepts a unique part of a key or `last`, and shows at most the requested number of messages", async () => {
    expect((await sessions("show", "last")).out).toMatch(/^agent:main:loopback:group:-500\n/);
    const { out } = await sessions("show", "main:main", "-n", "1");
    expect(out).toMatch(/\d+ older messages; --limit 0 shows all\n/);
    expect(out).not.toMatch(/ {2}user {2}/);
    expect(
      JSON.parse((await sessions("show", "main:main", "-n", "0", "--json")).out).transcript.length,
    ).toBeGreaterThan(5);
  });

  test("shows the messages before /new by generation number, and lists the available numbers", async () => {
    const older = JSON.parse((await sessions("show", "main:main", "--generation", "0", "--json")).out);
    expect(older).toMatchObject({
      key: "agent:main:main",
      generation: 1,
      shown: 0,
      transcript: [{ role: "user" }, { role: "assistant" }],
    });
    expect(older.transcript[0].content).toContain("before the new one");
    expect(await sessions("show", "main:main", "--generation", "2")).toMatchObject({
      code: 2,
      err: expect.stringContaining("agent:main:main has the conversations 0 to 1"),
    });
  });

  test("does not let text of others move the cursor", async () => {
    const { out } = await sessions("show", "invoices");
    expect(out).toContain("\\u001b[2J the invoices");
    expect(out).not.toContain("\u001b");
  });

  test("reports an unknown key and an ambiguous one in a sentence", async () => {
    expect(await sessions("show", "nobody")).toMatchObject({
      code: 1,
      err: expect.stringContaining("The session nobody does not exist."),
    });
    expect(await sessions("show", "agent:")).toMatchObject({
      code: 2,
      err: expect.stringContaining('"agent:" is part of 2 keys'),
    });
  });
});
