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

const minutes = { id: "18c1", from: "Ada <ada@example.org>", subject: "Minutes", snippet: "As agreed", body: "As agreed on Monday" };

describe("the preset gmail", () => {
  test("runs once for each mail of a batch, in a session of its own, with from, subject, snippet and body, wrapped", async () => {
    await start();
    expect(await post([minutes, { ...minutes, id: "18c2", subject: "Invoice" }])).toMatchObject({
      status: 202,
      body: { runIds: [expect.any(String), expect.any(String)] },
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
    await start({ allowedSessionKeyPrefixes: ["ops:"] }, [/hooks\.presets\[0\]/]);
    expect(await host.problems()).toMatchObject([{ severity: "error", path: "hooks.presets[0]" }]);
    expect((await post([minutes])).status).toBe(503);
  });

  test("the examples of its page are configurations without a problem", async () => {
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
