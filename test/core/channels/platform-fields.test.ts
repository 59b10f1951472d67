/** What a reply contains of a platform's own: checked by the schema of its channel, and ignored elsewhere. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ChannelAccount, defineChannel, definePlugin, type Reply, Type } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

const platformFields = Type.Object({
  color: Type.Optional(Type.Enum(["red", "green"])),
  card: Type.Optional(Type.Object({ title: Type.String() }, { additionalProperties: true })),
});

function createSquare(schema: typeof platformFields | undefined) {
  const sent: { readonly text: string; readonly platform: unknown }[] = [];
  let account: ChannelAccount<object> | undefined;
  const channel = defineChannel({
    id: "square",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 4_000 },
    ...(schema !== undefined && { platformFields: schema }),
    open(opened) {
      account = opened;
      return {
        start: async () => opened.status({ state: "connected" }),
        parse: (raw) => ({ chat: { id: "7", kind: "direct" }, sender: { id: "7" }, text: String(raw) }),
        render: ({ text, platform = null }) => [{ kind: "text", chars: text.length, body: { text, platform } }],
        async send({ body }) {
          sent.push(body as unknown as (typeof sent)[number]);
          return { messageId: String(sent.length) };
        },
        close: async () => {},
      };
    },
  });
  return { channel, sent, receive: async (text: string) => await account?.receive(text) };
}

/** A plugin that adds fields to every reply. */
const adds = (added: () => unknown) =>
  definePlugin({
    id: "adds",
    version: "1.0.0",
    host: "*",
    setup: (host) => void host.tap("formatting", (reply) => ({ ...reply, platform: added() as Reply["platform"] })),
  });

const config = { channels: { square: { dmPolicy: "open", allowFrom: ["*"] } } };

/** Sends by an operator: "ok", or the sentence of the refusal. */
async function act(host: TestHost, args: object): Promise<string> {
  const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
  const response = await host.fetch("/gateway/actions", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ action: "send", channel: "square", to: "7", message: "Hello", ...args }),
  });
  const { ok, code, error } = (await response.json()) as { ok: boolean; code?: string; error?: string };
  return ok ? "ok" : `${code}: ${error}`;
}

const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;

test("an action is sent with the fields of its own channel alone", async () => {
  const { channel, sent } = createSquare(platformFields);
  await using host = await createTestHost({ plugins: [channel], config });
  const card = { title: "Tea", rows: [1, 2] };
  for (const platform of [{ square: { color: "red" }, other: { any: true } }, { square: { card } }, { other: {} }])
    expect(await act(host, { platform })).toBe("ok");
  expect(sent.map(({ platform }) => platform)).toEqual([{ square: { color: "red" } }, { square: { card } }, null]);
});

test("an action with fields that do not match is refused with one sentence, and nothing is sent", async () => {
  const { channel, sent } = createSquare(platformFields);
  await using host = await createTestHost({ plugins: [channel], config });
  const refused: readonly (readonly [platform: unknown, sentence: string])[] = [
    [{ square: { color: "blue" } }, 'platform.square.color is "blue", but must be "red" or "green".'],
    [{ square: { colour: "red" } }, "platform.square.colour is not known. Did you mean color?"],
    [{ square: { blocks: [] } }, "platform.square.blocks is not known. The channel takes color, card."],
    ["red", 'platform must be an object of fields by channel, such as { "acme": { ... } }.'],
    [
      { square: { card: { title: "x".repeat(70_000) } } },
      "platform.square has 70021 bytes as JSON, but at most 65536 are allowed. Shorten it.",
    ],
  ];
  for (const [platform, sentence] of refused)
    for (const dryRun of [true, false])
      expect(await act(host, { platform, dryRun })).toBe(`invalid_arguments: ${sentence}`);
  expect(sent).toEqual([]);
});

test("an action for a channel without such fields is refused", async () => {
  const { channel } = createSquare(undefined);
  await using host = await createTestHost({ plugins: [channel], config });
  expect(await act(host, { platform: { square: { color: "red" } } })).toBe(
    "invalid_arguments: platform.square: the channel square takes no fields of its platform. Remove it.",
  );
});

test("fields that a plugin adds to a reply reach its channel, or are left out with a reason", async () => {
  const { channel, sent, receive } = createSquare(platformFields);
  const replies: readonly (readonly [platform: unknown, wanted: unknown, note?: RegExp])[] = [
    [{ square: { color: "green" } }, { square: { color: "green" } }],
    [{ other: {} }, null],
    [{ square: { color: 1 } }, null, /platform\.square\.color is 1, but must be/],
    [{ square: { card: { title: "x", deep } } }, null, /cannot be read/],
    [["square"], null, /platform must be an object/],
  ];
  let added: unknown;
  await using host = await createTestHost({ plugins: [channel, adds(() => added)], config, answer: () => "Hi" });
  for (const [platform, wanted, note] of replies) {
    added = platform;
    const before = sent.length;
    const accepted = await receive("hello");
    await expect.poll(() => sent.slice(before)).toEqual([{ text: "Hi", platform: wanted }]);
    const left = (await host.why(accepted?.eventId ?? "")).filter(({ code }) => code === "part_omitted");
    expect(left.map(({ detail = "" }) => note?.test(detail))).toEqual(note === undefined ? [] : [true]);
  }
});

const hookToken = "the-token-of-the-hooks";
const mappingOf = (platform: unknown) => ({
  ...config,
  hooks: {
    enabled: true,
    token: hookToken,
    mappings: [
      {
        ...{ match: { path: "build" }, deliverOnly: true, messageTemplate: "Built", channel: "square", to: "7" },
        platform,
      },
    ],
  },
});

test("a mapping adds the fields to its message, and a request cannot", async () => {
  const { channel, sent } = createSquare(platformFields);
  await using host = await createTestHost({
    plugins: [channel],
    config: mappingOf({ square: { color: "green" } }),
    answer: () => "Hi",
  });
  await host.deliver("build", {});
  const asked = { message: "Hello", channel: "square", to: "7", platform: { square: { color: "red" } } };
  await host.deliver("agent", asked);
  expect(sent).toEqual([
    { text: "Built", platform: { square: { color: "green" } } },
    { text: "Hi", platform: null },
  ]);
});

test("a transform returns fields for each delivery, and those that do not match are left out", async () => {
  const { channel, sent } = createSquare(platformFields);
  const directory = mkdtempSync(join(tmpdir(), "platform-fields-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, "transforms"));
  const code = "export default ({ payload }) => ({ platform: { square: { card: payload.card } } });";
  writeFileSync(join(directory, "transforms", "card.js"), code);
  const { hooks, ...rest } = mappingOf(undefined);
  const mappings = hooks.mappings.map(({ platform: _, ...one }) => ({ ...one, transform: { module: "card.js" } }));
  await using host = await createTestHost({
    plugins: [channel],
    directory,
    config: { ...rest, hooks: { ...hooks, mappings } },
  });
  await host.deliver("build", { card: { title: "Tea" } });
  await host.deliver("build", { card: {} });
  expect(sent.map(({ platform }) => platform)).toEqual([{ square: { card: { title: "Tea" } } }, null]);
});

test("fields of a mapping that do not match are an error of the configuration", async () => {
  const { channel } = createSquare(platformFields);
  await using host = await createTestHost({
    plugins: [channel],
    config: mappingOf({ square: { color: "blue" }, loopback: {}, circle: {} }),
    allowErrors: [/hooks\.mappings/],
  });
  const problems = (await host.problems()).map(({ path, message }) => `${path}: ${message}`);
  expect(problems).toEqual([
    'hooks.mappings[0].platform.square: cannot be sent: platform.square.color is "blue", but must be "red" or "green"',
    expect.stringMatching(/^hooks\.mappings\[0\]\.platform\.loopback: cannot be sent: .* takes no fields/),
    "hooks.mappings[0].platform.circle: is not a channel",
  ]);
});

test("a schema that is none is refused by name", async () => {
  const { channel } = createSquare(platformFields);
  const broken = { ...channel, channel: { ...channel.channel, platformFields: "color" } as never };
  await expect(createTestHost({ plugins: [broken] })).rejects.toThrow(
    /platformFields of its channel must be a TypeBox object/,
  );
});
