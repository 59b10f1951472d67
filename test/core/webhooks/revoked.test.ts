/** Answers that are held while the secret that let their request in is changed in the configuration. */
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";

const token = "hook-token-before";
const secret = "signing-secret-before";
const hooks = {
  enabled: true,
  token,
  exposeReplies: true,
  mappings: [
    { match: { path: "ci" }, signature: { scheme: "github", secret }, messageTemplate: "signed", deliver: false },
    { match: { path: "build" }, messageTemplate: "mapped", deliver: false },
  ],
};

async function hold() {
  const gate = Promise.withResolvers<void>();
  let turns = 0;
  const host = await createTestHost({
    config: { hooks },
    async answer() {
      turns += 1;
      await gate.promise;
      return "the reply";
    },
  });
  onTestFinished(async () => {
    gate.resolve();
    await host.close();
  });
  const ask = async (path: string) => {
    const body = JSON.stringify({ message: "hello", deliver: false, wakeMode: "next-heartbeat" });
    const headers = { "content-type": "application/json", prefer: "wait=60" };
    const signed = { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
    const response = await fetch(`${host.url}/hooks/${path}`, {
      method: "POST",
      headers: { ...headers, ...(path === "ci" ? signed : { authorization: `Bearer ${token}` }) },
      body,
    });
    // biome-ignore lint/suspicious/noExplicitAny: what the gateway answers is what is tested.
    const json = (await response.json()) as any;
    return { status: response.status, applied: response.headers.get("preference-applied"), json };
  };
  return {
    release: gate.resolve,
    /** Resolves once the agent works on it. */
    async held(path: string) {
      const before = turns;
      const answer = ask(path);
      await expect.poll(() => turns).toBe(before + 1);
      return { answer };
    },
    edit(change: (text: string) => string) {
      writeFileSync(host.configFile, change(readFileSync(host.configFile, "utf8")));
    },
  };
}

const cut = { status: 202, applied: null, json: { ok: true, runId: expect.any(String), eventId: expect.any(String) } };

test.each([
  ["agent", "another hook token", (text: string) => text.replace(token, "hook-token-after")],
  ["build", "another hook token", (text: string) => text.replace(token, "hook-token-after")],
  [
    "agent",
    "no hook server any more",
    (text: string) => text.replace('"enabled":true,"token"', '"enabled":false,"token"'),
  ],
  ["ci", "another signing secret", (text: string) => text.replace(secret, "signing-secret-after")],
  ["ci", "no such mapping any more", (text: string) => text.replace('"path":"ci"', '"path":"other"')],
])(
  "a held response to %s ends once the configuration has %s, and reports only that the run was accepted",
  async (path, _what, change) => {
    const room = await hold();
    const { answer } = await room.held(path);
    const began = performance.now();
    room.edit(change);
    expect(await answer).toEqual(cut);
    expect(performance.now() - began).toBeLessThan(10_000);
  },
);

test("a response stays held if the configuration changes but its secret stays valid", async () => {
  const room = await hold();
  const held = [await room.held("agent"), await room.held("ci")];
  const other = await room.held("build");
  room.edit((text) => text.replace(`"${secret}"`, `["another-secret","${secret}"]`));
  expect(await Promise.race([Promise.all([...held, other].map(({ answer }) => answer)), sleep(1_500, "held")])).toBe(
    "held",
  );
  room.release();
  for (const { answer } of [...held, other])
    expect(await answer).toMatchObject({ status: 200, applied: "wait=60", json: { reply: "the reply" } });
});
