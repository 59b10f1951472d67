/** Channels of authors who run without a type check. */
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { type ChannelDefinition, defineChannel, Type } from "../../../core/sdk/contract.ts";

const connection = {
  start: async () => {},
  parse: () => null,
  render: () => [],
  send: async () => ({ messageId: "1" }),
  close: async () => {},
};
const capabilities = {
  maxChars: 400,
  markup: "plain",
  edits: false,
  threads: false,
  reactions: false,
  media: false,
  buttons: false,
  typing: false,
  menu: false,
} as const;
const irc = {
  id: "irc",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({}),
  capabilities,
  open: () => connection,
};
const declare = (change: object) => defineChannel({ ...irc, ...change } as unknown as ChannelDefinition);

test.each([
  [{ capabilities: undefined }, "its channel has no capabilities"],
  [
    { capabilities: { ...capabilities, maxChars: undefined } },
    "capabilities.maxChars of its channel must be a whole number above 0",
  ],
  [
    { capabilities: { ...capabilities, maxChars: 0 } },
    "capabilities.maxChars of its channel must be a whole number above 0",
  ],
  [
    { capabilities: { ...capabilities, markup: "html" } },
    'capabilities.markup of its channel must be "plain" or "rich"',
  ],
  [
    { capabilities: { ...capabilities, messageIds: { pattern: "(", description: "a number" } } },
    "capabilities.messageIds of its channel needs a pattern, which is a regular expression, and a description",
  ],
  [{ capabilities: { ...capabilities, edits: "yes" } }, "capabilities.edits of its channel must be true or false"],
  [{ listing: { needs: [] } }, "listing of its channel must have a name, the platform's, of at most 40 characters"],
  [
    { listing: { name: "IRC", needs: ["A server."], publicAddress: "no", tried: [] } },
    "listing of its channel must have needs, a list of phrases of at most 160 characters, without a full stop",
  ],
  [
    { listing: { name: "IRC", needs: [], publicAddress: false, tried: [] } },
    'listing of its channel must have publicAddress: "no", "optional" or "yes"',
  ],
  [{ onboarding: { steps: [""] } }, "onboarding of its channel needs steps, a list of sentences"],
  [{ open: undefined }, "its channel has no open function"],
  [{ options: undefined }, "the options of its channel must be a TypeBox object, Type.Object({}) where there are none"],
])("a channel declared with %j is rejected before any of its code runs, with the reason", (change, reason) => {
  expect(() => checkDeclaration("irc", declare(change))).toThrow(
    `The declaration of the plugin irc is invalid: ${reason}.`,
  );
});

test("a complete channel declaration is accepted", () => {
  expect(checkDeclaration("irc", declare({})).channel?.id).toBe("irc");
});

test.each([
  ["lacks functions", { ...connection, render: undefined, close: undefined }, "render, close is not a function there"],
  ["is nothing", undefined, "start, parse, render, send, close is not a function there"],
])(
  "a connection that %s fails its account at startup, naming the functions, instead of at the first message",
  async (_name, opened, reason) => {
    await using host = await createTestHost({
      config: { channels: { irc: {} } },
      plugins: [declare({ open: () => opened })],
      allowErrors: [/open must return/],
    });
    expect(await host.accounts()).toContainEqual({
      ...{ channel: "irc", account: "default", state: "failed" },
      detail: `open must return start, parse, render, send, close: ${reason}`,
    });
  },
);
