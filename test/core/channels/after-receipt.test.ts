/** What a platform reports of a message after it has accepted it: a line in the trace, and an apology if it failed. */
import { expect, onTestFinished, test } from "vitest";
import { type ChannelAccount, type ChannelInbound, defineChannel, Type } from "../../../core/sdk/contract.ts";
import { createTestHost } from "../../../core/testkit/index.ts";

async function open({ numbered = false } = {}) {
  let account: ChannelAccount<object> | undefined;
  const sent: string[] = [];
  const channel = defineChannel({
    id: "post",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 4_000 },
    codes: { window_shut: { meaning: "The window of the platform was shut.", hint: "Open it.", outcome: "failed" } },
    open(opened) {
      account = opened;
      return {
        start: async () => opened.status({ state: "connected" }),
        parse: (raw) => raw as unknown as ChannelInbound,
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        async send({ body }, { chat }) {
          sent.push(`${chat}: ${String(body)}`);
          return { messageId: numbered ? "1" : `m${sent.length}` };
        },
        close: async () => {},
      };
    },
  });
  const host = await createTestHost({
    plugins: [channel],
    config: {
      channels: { post: { dmPolicy: "open", allowFrom: ["*"] } },
      hooks: { enabled: true },
    },
    answer: ({ inbound }) => `answer to ${inbound.text}`,
  });
  onTestFinished(async () => {
    await host.close();
  });
  const said = async (text: string, chat = "7") => {
    const { eventId } = (await account?.receive({
      chat: { id: chat, kind: "direct" },
      sender: { id: chat },
      text,
    })) ?? {
      eventId: "",
    };
    return await host.settled(eventId);
  };
  const reports = async (...given: Parameters<ChannelAccount["sent"]>) => await account?.sent(...given);
  /** What was reported about an event, as the trace has it. */
  const traced = async (event: { readonly eventId: string }) =>
    (await host.why(event))
      .filter(({ detail }) => detail?.startsWith("message "))
      .map(({ code, verdict, detail }) => [code, verdict, detail]);
  return { host, sent, said, reports, traced };
}

test("delivered and read are lines in the trace, each once, and the event stays answered", async () => {
  const { host, sent, said, reports, traced } = await open();
  const event = await said("hello");
  for (const report of ["delivered", "delivered", "read", "read"] as const) await reports("m1", report);
  expect(await traced(event)).toEqual([
    ["message_delivered", "done", "message m1"],
    ["message_read", "done", "message m1"],
  ]);
  expect(await host.settled(event.eventId)).toMatchObject({ outcome: "answered" });
  expect(sent).toHaveLength(1);
});

test("a failure after the receipt is in the trace, and the person gets one apology, also over a restart", async () => {
  const { host, sent, said, reports, traced } = await open();
  const event = await said("hello");
  await reports("m1", { failed: "window_shut" });
  await expect.poll(() => sent).toEqual(["7: answer to hello", expect.stringContaining("could not be delivered")]);
  await host.restart();
  await reports("m1", { failed: "window_shut" });
  await reports("m1", { failed: "platform_error" });
  await said("more");
  expect(sent).toEqual(["7: answer to hello", expect.stringContaining("could not"), "7: answer to more"]);
  expect(await traced(event)).toEqual([
    ["window_shut", "failed", "message m1"],
    ["platform_error", "failed", "message m1"],
  ]);
});

test("an apology that does not arrive either, or could not, is followed by none", async () => {
  const { sent, said, reports } = await open();
  await said("hello");
  await reports("m1", { failed: "blocked_by_user" });
  await said("again");
  await reports("m2", { failed: "window_shut" });
  await expect.poll(() => sent).toHaveLength(3);
  await reports("m3", { failed: "window_shut" });
  await said("more");
  expect(sent).toHaveLength(4);
});

test("a message of another account, or an unknown one, is ignored", async () => {
  const { host, sent, said, reports, traced } = await open();
  const event = await said("hello");
  await reports("m77", { failed: "window_shut" });
  await host.say("hello there");
  await reports(host.outbox()[0]?.messageId ?? "", { failed: "window_shut" });
  await said("more");
  expect(sent).toHaveLength(2);
  expect(await traced(event)).toEqual([]);
});

test("where each chat numbers its messages, the report names the chat", async () => {
  const { said, reports, traced } = await open({ numbered: true });
  const [ada, bela] = [await said("from ada", "7"), await said("from bela", "8")];
  await reports("1", "read");
  expect([await traced(ada), await traced(bela)]).toEqual([[], []]);
  await reports("1", "read", { chat: "8" });
  await reports("1", "delivered", { chat: "9" });
  expect([await traced(ada), await traced(bela)]).toEqual([[], [["message_read", "done", "message 1"]]]);
});
