/** A platform where the bot may write for some time after a person has written, and one where it may only answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ChannelAccount, type ChannelReach, defineChannel, Type } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

const hookToken = "the-token-of-the-hooks";
let account: ChannelAccount<object> | undefined;
let reach: () => ChannelReach = () => "always";
const sent: string[] = [];

const window = defineChannel({
  id: "window",
  version: "1.0.0",
  host: "*",
  options: Type.Object({}),
  capabilities: { maxChars: 4_000 },
  open(opened) {
    account = opened;
    return {
      start: async () => opened.status({ state: "connected" }),
      parse: (raw) => ({ chat: { id: "7", kind: "direct" }, sender: { id: "7" }, text: String(raw) }),
      render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
      async send({ body }) {
        sent.push(String(body));
        return { messageId: String(sent.length) };
      },
      reaches: () => reach(),
      close: async () => {},
    };
  },
});

/** An operator's message to the chat: "ok", or the code of the refusal with its sentence. */
async function act(host: TestHost): Promise<string> {
  const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
  const response = await host.fetch("/gateway/actions", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ action: "send", channel: "window", to: "7", message: "out of the blue" }),
  });
  const { ok, code, error } = (await response.json()) as { ok: boolean; code?: string; error?: string };
  return ok ? "ok" : `${code}: ${error}`;
}

test.each<readonly [string, (now: number) => ChannelReach, RegExp]>([
  ["always", () => "always", /^ok$/],
  ["until later", (now) => ({ untilMs: now + 60_000 }), /^ok$/],
  ["until some time ago", (now) => ({ untilMs: now - 60_000 }), /^outside_window: .*may write there only until 20/],
  ["before a person has written", () => ({ untilMs: 0 }), /^outside_window: .*after a person has written/],
  ["only to answer", () => "answer-only", /^outside_window: .*may only answer/],
])(
  "where the bot may write %s, a message to begin with ends so; an answer is always sent",
  async (_, given, wanted) => {
    sent.length = 0;
    let turns = 0;
    await using host = await createTestHost({
      plugins: [window],
      config: {
        channels: { window: { dmPolicy: "open", allowFrom: ["*"] } },
        hooks: { enabled: true, token: hookToken },
      },
      answer: ({ inbound }) => {
        turns += 1;
        return `heard: ${inbound.text}`;
      },
    });
    reach = () => given(host.now());
    expect(await act(host)).toMatch(wanted);
    await account?.receive("hello");
    await expect.poll(() => sent).toContain("heard: hello");
    // A reminder or a webhook asks no model for what could not be sent.
    const hook = await host.fetch("/hooks/agent", {
      method: "POST",
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "from a hook", channel: "window", to: "7" }),
    });
    const { runId } = (await hook.json()) as { readonly runId: string };
    const { outcome, reason } = await host.settled(runId);
    const isOpen = String(wanted).includes("ok");
    expect(`${outcome} ${reason}`).toBe(isOpen ? "answered answered" : "failed outside_window");
    expect(turns).toBe(isOpen ? 2 : 1);
  },
);
