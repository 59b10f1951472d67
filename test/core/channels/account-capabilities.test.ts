/** What an account can do, where that depends on its options. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineChannel, Type } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

/** Buttons need an address that the platform can call. */
const desk = defineChannel({
  id: "desk",
  version: "1.0.0",
  host: "*",
  options: Type.Object({ name: Type.String(), callbackUrl: Type.Optional(Type.String()) }),
  credentials: ["name"],
  connectionOptions: ["name"],
  capabilities({ name, callbackUrl }) {
    if (name === "torn") throw new Error("no idea");
    if (name === "odd") return { maxChars: 0 };
    return { maxChars: 100, buttons: callbackUrl !== undefined };
  },
  open: (account) => ({
    start: async () => account.status({ state: "connected" }),
    parse: () => null,
    render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
    send: async () => ({ messageId: "1" }),
    close: async () => {},
  }),
});

const accounts = {
  bare: { name: "bare" },
  called: { name: "called", callbackUrl: "https://desk.test/called" },
  torn: { name: "torn" },
  odd: { name: "odd" },
};

/** Tries to send a message with a button, and returns "ok" or the code of the refusal. */
async function send(host: TestHost, account: string): Promise<string> {
  const response = await host.fetch("/gateway/actions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim()}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      ...{ action: "send", dryRun: true, channel: "desk", account, to: "7", message: "Now?" },
      buttons: [[{ text: "Yes", callback_data: "y" }]],
    }),
  });
  const { ok, code } = (await response.json()) as { readonly ok: boolean; readonly code?: string };
  return ok ? "ok" : String(code);
}

test("an action asks the account that it is for, also after an edit that leaves the connection", async () => {
  await using host = await createTestHost({
    plugins: [desk],
    config: { channels: { desk: { accounts } } },
    allowErrors: [/channels\.desk\.accounts/],
  });
  expect(await send(host, "bare")).toBe("not_supported");
  expect(await send(host, "called")).toBe("ok");
  await host.configure({
    channels: {
      desk: { accounts: { ...accounts, bare: { ...accounts.bare, callbackUrl: "https://desk.test/bare" } } },
    },
  });
  expect(await send(host, "bare")).toBe("ok");
});

test("an account whose channel cannot say what it can do does not open, and the others do", async () => {
  await using host = await createTestHost({
    plugins: [desk],
    config: { channels: { desk: { accounts } } },
    allowErrors: [/channels\.desk\.accounts/],
  });
  const states = (await host.accounts()).filter(({ channel }) => channel === "desk");
  expect(Object.fromEntries(states.map(({ account, state, detail }) => [account, detail ?? state]))).toEqual({
    bare: "connected",
    called: "connected",
    torn: expect.stringContaining("capabilities of the channel failed: no idea"),
    odd: expect.stringContaining("maxChars must be a whole number above 0"),
  });
});
