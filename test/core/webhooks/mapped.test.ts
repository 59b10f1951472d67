import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { plainText } from "../../../core/sdk/channel.ts";
import { parseMarkdown } from "../../support/rich-text.ts";

/**
 * A gateway whose agent repeats what it reads. The owner wrote before, so that `last` is a place, unless nothing was
 * `said`.
 */
async function start(hooks: object, { said = true }: { readonly said?: boolean } = {}): Promise<TestHost> {
  const host = await createTestHost({ config: { hooks }, answer: ({ inbound }) => inbound.text });
  onTestFinished(() => host.close());
  if (said) await host.say("hello");
  return host;
}

const lastOf = (host: TestHost) => host.outbox().at(1);

const push = { repository: { name: "site" }, commits: [{ message: "Fix the door" }] };

describe("a mapping with a template", () => {
  test("with the action agent, starts a run of its own, answers 202, and wraps the rendered message", async () => {
    const host = await start({
      mappings: [
        { match: { path: "push" }, name: "Push", messageTemplate: "{{ repository.name }}: {{ commits[0].message }}" },
      ],
    });
    const { status, body, ended } = await host.deliver("push", push);
    const { runId } = body as { readonly runId: string };
    expect({ status, body }).toEqual({ status: 202, body: { ok: true, runId: expect.any(String), eventId: runId } });
    expect(lastOf(host)?.text).toContain("site: Fix the door");
    expect(lastOf(host)?.text).toContain("external-content");
    expect(ended).toMatchObject([{ eventId: runId, outcome: "answered" }]);
  });

  test("with the action wake, answers 200 with its mode and starts a heartbeat at once", async () => {
    const host = await start({
      mappings: [{ match: { path: "disk" }, action: "wake", textTemplate: "Disk {{ host }} is full" }],
    });
    const { status, body } = await host.deliver("disk", { host: "db-3" });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, mode: "now", eventId: expect.any(String) } });
    await expect.poll(() => lastOf(host)?.text).toContain("Disk db-3 is full");
    expect(lastOf(host)?.text).toContain("external-content");
  });

  test("with deliverOnly, sends the message without an engine or a summary; shows the values literally", async () => {
    const host = await start({
      mappings: [
        {
          match: { path: "alert" },
          deliverOnly: true,
          messageTemplate:
            "[[reply_to_current]] **{{ title }}** is {{ state }}: {{ message }} {{{ note }}} HEARTBEAT_OK",
        },
      ],
    });
    const message = "~~y~~ [click](http://evil.example) # heading\n\n> quote";
    const payload = { title: "__init__.py", state: "*all* down", message, note: "**urgent**" };
    expect((await host.deliver("alert", payload)).status).toBe(202);
    const { chat, text = "" } = lastOf(host) ?? {};
    expect(chat).toBe("owner");
    const shown = `[[reply_to_current]] __init__.py is *all* down: ${message} urgent HEARTBEAT_OK`;
    expect([parseMarkdown(text).text, plainText(text)]).toEqual([shown, shown]);
    // The platform would make a link of the file name, which therefore is shown as code.
    expect(parseMarkdown(text).spans.map(({ kind }) => kind)).toEqual(["bold", "code", "bold"]);
    expect(host.outbox()).toHaveLength(2);
  });

  test("passes values to the agent unchanged, in double and in triple braces", async () => {
    const host = await start({
      mappings: [{ match: { path: "alert" }, messageTemplate: "{{ title }} {{{ title }}}" }],
    });
    await host.deliver("alert", { title: "*a* `b`" });
    expect(lastOf(host)?.text).toContain("*a* `b` *a* `b`");
  });

  test("with deliverOnly from a transform, sends its message as Markdown and template values literally", async () => {
    const directory = mkdtempSync(join(tmpdir(), "transforms-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    mkdirSync(join(directory, "transforms"));
    const code = `import { escapeMarkdown } from "service-gateway/sdk";
      export default ({ payload }) => ({ deliverOnly: true, ...(payload.own && { message: \`**\${escapeMarkdown(payload.own)}**\` }) });`;
    writeFileSync(join(directory, "transforms", "own.js"), code);
    const config = {
      hooks: { mappings: [{ match: { path: "t" }, messageTemplate: "{{ title }}", transform: { module: "own.js" } }] },
    };
    const host = await createTestHost({ config, directory });
    onTestFinished(() => host.close());
    await host.say("hello");
    await host.deliver("t", { title: "*a*" });
    await host.deliver("t", { title: "*a*", own: "_b_ [c](d)" });
    expect(
      host
        .outbox()
        .slice(1)
        .map(({ text }) => text),
    ).toEqual(["\\*a\\*", "**\\_b\\_ \\[c\\](d)**"]);
  });

  test("at a signed path, requires the signature instead of the token", async () => {
    const secret = "signing-secret";
    const host = await start({
      mappings: [
        {
          match: { path: "github" },
          signature: { scheme: "github", secret },
          messageTemplate: "{{ repository.name }}",
        },
      ],
    });
    const body = JSON.stringify(push);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { authorization: "", "x-hub-signature-256": signature };
    expect((await host.deliver("github", body)).status).toBe(401);
    expect(await host.deliver("github", body, { headers })).toMatchObject({ status: 202 });
    expect(await host.deliver("github", body, { headers })).toMatchObject({ status: 202 });
    expect((await host.deliver("github", `${body} `, { headers })).body).toMatchObject({ code: "signature_invalid" });
  });

  test("with deliverOnly and no recipient, ends silent without calling an engine", async () => {
    const mappings = [{ match: { path: "alert" }, deliverOnly: true, messageTemplate: "x" }];
    const host = await start({ mappings }, { said: false });
    expect((await host.deliver("alert", {})).ended).toMatchObject([{ outcome: "silent", reason: "no_recipient" }]);
  });

  test("never sends to the last sender once that sender loses access, until another one writes", async () => {
    const mappings = [{ match: { path: "alert" }, deliverOnly: true, messageTemplate: "{{ text }}" }];
    const host = await start({ mappings });
    await host.say("hello", { from: "guest", chat: "guest's chat" });
    await host.deliver("alert", { text: "one" });
    expect(host).toHaveDelivered("one", { chat: "guest's chat" });
    await host.configure({ channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["owner"] } } });
    const { ended } = await host.deliver("alert", { text: "two" });
    expect(ended).toMatchObject([{ outcome: "silent", reason: "recipient_refused" }]);
    await host.say("hello again");
    await host.configure({ channels: { loopback: { dmPolicy: "disabled" } } });
    await host.deliver("alert", { text: "three" });
    expect(host.outbox().map(({ chat, text }) => [chat, text])).toEqual([
      ["owner", "hello"],
      ["guest's chat", "hello"],
      ["guest's chat", "one"],
      ["owner", "hello again"],
      ["owner", "three"],
    ]);
  });

  test("with the action wake and a trusted source, reaches the agent without a wrapper or imitated marks", async () => {
    const host = await start({
      mappings: [
        {
          match: { path: "disk" },
          action: "wake",
          textTemplate: "Disk {{ host }} is full",
          allowUnsafeExternalContent: true,
        },
      ],
    });
    await host.deliver("disk", { host: "db-3" });
    await expect.poll(() => lastOf(host)?.text).toContain("Disk db-3 is full");
    expect(lastOf(host)?.text).not.toContain("external-content");
  });
});
