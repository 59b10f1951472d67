import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import mail from "../../../plugins/mail/index.ts";

let host: TestHost;
const seen: { readonly session: string; readonly text: string; readonly model: string | undefined }[] = [];

afterEach(() => host.close());

async function start(hooks: object = {}, allowErrors: readonly RegExp[] = []): Promise<void> {
  seen.length = 0;
  host = await createTestHost({
    plugins: [mail],
    config: { hooks: { presets: ["gmail"], ...hooks }, agents: { defaults: { engine: "test-engine" } } },
    answer(turn) {
      if (turn.inbound.kind !== "hook") return "HEARTBEAT_OK";
      seen.push({ session: turn.sessionKey, text: turn.inbound.text, model: turn.inbound.request?.model });
      return "read";
    },
    allowErrors,
  });
}

const post = (messages: Json) => host.deliver("gmail", { messages });

const minutes = {
  id: "18c1",
  from: "Ada <ada@example.org>",
  subject: "Minutes",
  snippet: "As agreed",
  body: "As agreed on Monday",
};

describe("the preset gmail", () => {
  test("runs once per mail of a batch, in its own session, with wrapped from, subject, snippet and body", async () => {
    await start();
    expect(await post([minutes, { ...minutes, id: "18c2", subject: "Invoice" }])).toMatchObject({
      status: 202,
      body: { runIds: [expect.any(String), expect.any(String)] },
    });
    expect(seen.map(({ session }) => session).sort()).toEqual(["hook:gmail:18c1", "hook:gmail:18c2"]);
    const [first] = seen;
    for (const value of [
      "Ada <ada@example.org>",
      "Subject: ",
      "As agreed\n",
      "As agreed on Monday",
      "external-content",
      "Hook: Gmail",
    ])
      expect(first?.text).toContain(value);
  });

  test("shows the agent the beginning of a mail once if the text contains the snippet", async () => {
    await start();
    await post([{ ...minutes, snippetInBody: true }]);
    await post([{ ...minutes, id: "18c2", body: "" }]);
    expect(seen.map(({ text }) => text.split("As agreed").length - 1)).toEqual([1, 1]);
  });

  test("gives mails without an id separate sessions, both by default and with allowed prefixes", async () => {
    await start({ allowedSessionKeyPrefixes: ["hook:gmail:"] });
    const { id: _, ...nameless } = minutes;
    expect((await post([nameless, nameless])).status).toBe(202);
    expect(new Set(seen.map(({ session }) => session)).size).toBe(2);
    for (const { session } of seen) expect(session).toMatch(/^hook:.{10,}/);
  });

  test("answers 204 for an empty batch", async () => {
    await start();
    expect((await post([])).status).toBe(204);
  });

  test("takes its model from hooks.gmail and can omit the wrapper", async () => {
    await start({ gmail: { model: "local/small", allowUnsafeExternalContent: true } });
    await post([minutes]);
    expect(seen).toMatchObject([{ model: "local/small", text: expect.not.stringContaining("external-content") }]);
  });

  test("comes after a user's mapping for the same path", async () => {
    await start({
      mappings: [{ match: { path: "gmail" }, messageTemplate: "{{ messages[0].subject }}", status: 200 }],
    });
    expect((await post([minutes])).status).toBe(200);
  });

  test("reports prefixes that exclude its sessions when the configuration loads, and then answers 503", async () => {
    await start({ allowedSessionKeyPrefixes: ["ops:"] }, [/hooks\.presets\[0\]/]);
    expect(await host.problems()).toMatchObject([{ severity: "error", path: "hooks.presets[0]" }]);
    expect((await post([minutes])).status).toBe(503);
  });

  test("has valid configurations as the examples on its page", async () => {
    const page = readFileSync(new URL("../../../plugins/mail/README.md", import.meta.url), "utf8");
    const examples = [...page.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));
    expect(examples).toHaveLength(3);
    for (const { hooks } of examples) {
      // The files that the examples name are not there, so that no mailbox is read.
      await start({ ...hooks, token: "hook-token-of-the-test" }, [/a mailbox is not read/]);
      expect(await host.problems()).toEqual([]);
      if (hooks !== examples.at(-1).hooks) await host.close();
    }
    const body = /-d '(.*)'/.exec(page)?.[1] ?? "";
    expect((await post(JSON.parse(body).messages)).status).toBe(202);
  });
});
