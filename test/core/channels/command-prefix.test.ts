/** A platform whose clients take `/stop` for themselves. */
import { expect, test } from "vitest";
import { readCommandPrefix, writeCommandPrefix } from "../../../core/channels/connection/command-prefix.ts";
import { type ChannelAccount, defineChannel, Type } from "../../../core/sdk/contract.ts";
import { createTestHost } from "../../../core/testkit/index.ts";

const isCommand = (name: string) => ["stop", "help", "new", "model", "in_two"].includes(name);

test.each([
  ["!stop", "/stop"],
  ["  !STOP now", "  /STOP now"],
  ["@bot: !help", "@bot: /help"],
  ["!in\\_two x", "/in\\_two x"],
  ["!important, please", "!important, please"],
  ["!stopping", "!stopping"],
  ["say !stop", "say !stop"],
  ["/stop", "/stop"],
])("what a person types, %j, is read as %j", (typed, read) => {
  expect(readCommandPrefix(typed, "!", isCommand)).toBe(read);
  expect(readCommandPrefix(typed, "/", isCommand)).toBe(typed);
});

test.each([
  ["/stop ends the reply. /new starts a new one.", "!stop ends the reply. !new starts a new one."],
  ["Use `/model NAME` (or /help).", "Use `!model NAME` (or !help)."],
  [
    "See /help/more, https://x.test/new and a/new, or /home/ada.",
    "See /help/more, https://x.test/new and a/new, or /home/ada.",
  ],
])("a text of the gateway names commands as people type them: %j", (text, shown) => {
  expect(writeCommandPrefix(text, "!", isCommand)).toBe(shown);
  expect(writeCommandPrefix(text, "/", isCommand)).toBe(text);
});

test("a command with the prefix is run and not read by the agent, whose own words stay as they are", async () => {
  const sent: string[] = [];
  let account: ChannelAccount<object> | undefined;
  const channel = defineChannel({
    id: "square",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 4_000 },
    commandPrefix: "!",
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
        close: async () => {},
      };
    },
  });
  await using _host = await createTestHost({
    plugins: [channel],
    config: { channels: { square: { dmPolicy: "open", allowFrom: ["*"] } } },
    answer: ({ inbound }) => `heard ${inbound.text}, and I say /stop`,
  });
  const said = async (text: string): Promise<string | undefined> => {
    const before = sent.length;
    await account?.receive(text);
    await expect.poll(() => sent.length).toBe(before + 1);
    return sent.at(-1);
  };
  const help = await said("!help");
  expect(help).toContain("!stop ends the reply");
  expect(help).not.toContain("/stop");
  expect(await said("!think loudly")).toContain("`!think ");
  expect(await said("!important question")).toBe("heard !important question, and I say /stop");
});
