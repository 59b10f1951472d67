import { createHmac } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../../core/gateway/gateway.ts";
import { createLoopback, type Loopback, removeDirectory, repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

const token = "hook-token-of-the-test";
let running: TestGateway | undefined;
let chat: Loopback;
afterEach(async () => {
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

async function start(hooks: object): Promise<Gateway> {
  chat = createLoopback();
  const config = { hooks: { enabled: true, token, ...hooks }, channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
  running = await startGateway({ config, plugins: [chat.plugin, repeat] });
  // Somebody writes first, so that `last` is a place.
  await chat.say("hello", { sender: "7" });
  await chat.sentCount(1);
  return running.gateway;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${running?.gateway.url}/hooks/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

const push = { repository: { name: "site" }, commits: [{ message: "Fix the door" }] };

describe("a mapping with a template", () => {
  test("agent is the action: a run of its own, answered 202, with the rendered message wrapped", async () => {
    await start({
      mappings: [{ match: { path: "push" }, name: "Push", messageTemplate: "{{ repository.name }}: {{ commits[0].message }}" }],
    });
    const answer = await post("push", push);
    expect(answer).toEqual({ status: 202, body: { ok: true, runId: expect.any(String), eventId: answer.body.runId } });
    await chat.sentCount(2);
    expect(chat.sent.at(1)?.text).toContain("site: Fix the door");
    expect(chat.sent.at(1)?.text).toContain("external-content");
    expect(await running?.settled(String(answer.body.runId))).toMatchObject({ outcome: "answered", kind: "agent" });
  });

  test("wake is the action: answered 200 with its mode, a heartbeat at once", async () => {
    await start({ mappings: [{ match: { path: "disk" }, action: "wake", textTemplate: "Disk {{ host }} is full" }] });
    const answer = await post("disk", { host: "db-3" });
    expect(answer).toEqual({ status: 200, body: { ok: true, mode: "now", eventId: expect.any(String) } });
    await chat.sentCount(2);
    expect(chat.sent.at(1)?.text).toContain("Disk db-3 is full");
    expect(chat.sent.at(1)?.text).toContain("external-content");
  });

  test("deliverOnly: the message goes out as it is, no engine answers, no summary follows", async () => {
    await start({
      mappings: [{ match: { path: "alert" }, deliverOnly: true, messageTemplate: "[[reply_to_current]] {{ text }} HEARTBEAT_OK" }],
    });
    const answer = await post("alert", { text: "It **burns**" });
    expect(answer.status).toBe(202);
    await chat.sentCount(2);
    expect(chat.sent.at(1)).toEqual({ chat: "7", text: "[[reply_to_current]] It **burns** HEARTBEAT_OK" });
  });

  test("a signed path takes the signature and not the token", async () => {
    const secret = "signing-secret";
    await start({
      mappings: [{ match: { path: "github" }, signature: { scheme: "github", secret }, messageTemplate: "{{ repository.name }}" }],
    });
    const body = JSON.stringify(push);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    expect((await post("github", body)).status).toBe(401);
    expect(await post("github", body, { authorization: "", "x-hub-signature-256": signature })).toMatchObject({ status: 202 });
    const again = await post("github", body, { authorization: "", "x-hub-signature-256": signature });
    expect(again.status).toBe(202);
    expect((await post("github", `${body} `, { authorization: "", "x-hub-signature-256": signature })).body).toMatchObject({
      code: "signature_invalid",
    });
  });

  test("deliverOnly without anybody to deliver to ends silent, and no engine is asked", async () => {
    chat = createLoopback();
    running = await startGateway({
      config: { hooks: { enabled: true, token, mappings: [{ match: { path: "alert" }, deliverOnly: true, messageTemplate: "x" }] } },
      plugins: [chat.plugin],
    });
    const { body } = await post("alert", {});
    expect(await running.settled(String(body.runId))).toMatchObject({ outcome: "silent", reason: "no_recipient" });
  });

  test("a wake of a source that is trusted is told without a wrapper, on lines that imitate nothing", async () => {
    await start({
      mappings: [{ match: { path: "disk" }, action: "wake", textTemplate: "Disk {{ host }} is full", allowUnsafeExternalContent: true }],
    });
    await post("disk", { host: "db-3" });
    await chat.sentCount(2);
    expect(chat.sent.at(1)?.text).toContain("Disk db-3 is full");
    expect(chat.sent.at(1)?.text).not.toContain("external-content");
  });
});
