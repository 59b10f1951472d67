import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import mail from "../../../plugins/mail/index.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, type Loopback, startGateway, type TestGateway } from "../../support/gateway.ts";

const token = "hook-token-of-the-test";
let running: TestGateway | undefined;
let chat: Loopback;
const seen: { readonly session: string; readonly text: string; readonly model: string | undefined }[] = [];
const engine = createEngine((turn) => {
  if (turn.inbound.kind !== "hook") return "HEARTBEAT_OK";
  seen.push({ session: turn.sessionKey, text: turn.inbound.text, model: turn.inbound.request?.model });
  return "read";
});

async function stop(): Promise<void> {
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
}

afterEach(stop);

async function start(hooks: object = {}): Promise<void> {
  seen.length = 0;
  chat = createLoopback();
  running = await startGateway({
    config: { hooks: { enabled: true, token, presets: ["gmail"], ...hooks }, agents: { defaults: { engine: "scripted" } } },
    plugins: [mail, chat.plugin, engine],
  });
}

async function post(messages: unknown): Promise<{ readonly status: number; readonly runIds: readonly string[]; readonly text: string }> {
  const response = await fetch(`${running?.gateway.url}/hooks/gmail`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ messages }),
  });
  const text = await response.text();
  const { runIds = [] } = text === "" ? {} : (JSON.parse(text) as { runIds?: readonly string[] });
  for (const id of runIds) await running?.settled(id);
  return { status: response.status, runIds, text };
}

const minutes = { id: "18c1", from: "Ada <ada@example.org>", subject: "Minutes", snippet: "As agreed", body: "As agreed on Monday" };

describe("the preset gmail", () => {
  test("runs once for each mail of a batch, in a session of its own, with from, subject, snippet and body, wrapped", async () => {
    await start();
    expect(await post([minutes, { ...minutes, id: "18c2", subject: "Invoice" }])).toMatchObject({
      status: 202,
      runIds: [expect.any(String), expect.any(String)],
    });
    expect(seen.map(({ session }) => session).sort()).toEqual(["hook:gmail:18c1", "hook:gmail:18c2"]);
    const [first] = seen;
    for (const value of ["Ada <ada@example.org>", "Subject: ", "As agreed\n", "As agreed on Monday", "external-content", "Hook: Gmail"])
      expect(first?.text).toContain(value);
  });

  test("mails without an id share no session, and work under the default policy and under prefixes", async () => {
    await start({ allowedSessionKeyPrefixes: ["hook:gmail:"] });
    const { id: _, ...nameless } = minutes;
    expect((await post([nameless, nameless])).status).toBe(202);
    expect(new Set(seen.map(({ session }) => session)).size).toBe(2);
    for (const { session } of seen) expect(session).toMatch(/^hook:.{10,}/);
  });

  test("an empty batch is 204", async () => {
    await start();
    expect((await post([])).status).toBe(204);
  });

  test("hooks.gmail sets its model, and may leave the wrapper out", async () => {
    await start({ gmail: { model: "local/small", allowUnsafeExternalContent: true } });
    await post([minutes]);
    expect(seen).toMatchObject([{ model: "local/small", text: expect.not.stringContaining("external-content") }]);
  });

  test("a mapping of the user's for the path comes first", async () => {
    await start({ mappings: [{ match: { path: "gmail" }, messageTemplate: "{{ messages[0].subject }}", status: 200 }] });
    expect((await post([minutes])).status).toBe(200);
  });

  test("prefixes that do not let its sessions pass are told when the configuration loads, and it answers 503", async () => {
    await start({ allowedSessionKeyPrefixes: ["ops:"] });
    expect((await running?.gateway.describe())?.problems).toMatchObject([{ severity: "error", path: "hooks.presets[0]" }]);
    expect((await post([minutes])).status).toBe(503);
  });

  test("the examples of its page are configurations without a problem", async () => {
    const page = readFileSync(new URL("../../../plugins/mail/README.md", import.meta.url), "utf8");
    const examples = [...page.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));
    expect(examples).toHaveLength(3);
    for (const { hooks } of examples) {
      await start({ ...hooks, token });
      expect((await running?.gateway.describe())?.problems).toEqual([]);
      if (hooks !== examples.at(-1).hooks) await stop();
    }
    const body = /-d '(.*)'/.exec(page)?.[1] ?? "";
    expect((await post(JSON.parse(body).messages)).status).toBe(202);
  });
});
