import { expect, test } from "vitest";
import { readAccounts } from "../../../core/channels/account-settings.ts";
import { createSecrets } from "../../../core/config/secrets.ts";
import type { CalledChannel } from "../../../core/host/called-channel.ts";
import { type ChannelDefinition, Type } from "../../../core/sdk/contract.ts";
import { secretText } from "../../../core/sdk/marked-options.ts";
import { serverOptions } from "../../../core/sdk/server-options.ts";
import botchat from "../../../plugins/botchat/index.ts";

/** What a channel without credentials and rules of its own leaves out. */
const plain = {
  secrets: [],
  secretFiles: {},
  credentials: [],
  environment: {},
  check: undefined,
  signsInAs: undefined,
} as object;

async function problemsOf(section: object, environment: Readonly<Record<string, string>> = {}) {
  if (botchat.channel === undefined) throw new Error("the plugin declares no channel");
  const from = { secrets: createSecrets({ env: environment, directory: "/" }), environment };
  return (await readAccounts(botchat.channel, section, from)).flatMap(({ problems }) => problems);
}

test("a name in a list of senders is reported once with its path and disables nothing", async () => {
  const found = await problemsOf({
    allowFrom: ["1001", "TG:1002", "@ada", "*"],
    groups: { "-100": { topics: { "5": { allowFrom: ["bela"] } } } },
    accounts: { home: { botToken: "1:a" }, Work: { botToken: "2:b", groupAllowFrom: ["-100"] } },
  });
  expect(found.map(({ severity, path, message }) => [severity, path, message.split(" ")[0]])).toEqual([
    ["warning", "channels.botchat.allowFrom", '"@ada"'],
    ["warning", "channels.botchat.groups.-100.topics.5.allowFrom", '"bela"'],
    ["warning", "channels.botchat.accounts.Work.groupAllowFrom", '"-100"'],
  ]);
});

test.each([
  [
    "the token of another one",
    { accounts: { home: { botToken: "7:token-of-it" }, Work: { botToken: "7:token-of-it" } } },
    "channels.botchat.accounts.Work.botToken: is the same as channels.botchat.accounts.home.botToken",
  ],
  [
    "another token of the same bot",
    { accounts: { home: { botToken: "7:token-of-it" }, Work: { botToken: " 7:token-that-is-newer" } } },
    "channels.botchat.accounts.Work.botToken: signs in as 7, and so does channels.botchat.accounts.home.botToken",
  ],
  [
    "the bot of the root, which is that of the account default",
    { botToken: "7:token-of-it", accounts: { work: { botToken: "7:token-that-is-newer" }, default: {} } },
    "channels.botchat.botToken: signs in as 7, and so does channels.botchat.accounts.work.botToken",
  ],
  [
    "the bot that the environment names",
    { accounts: { default: {}, work: { botToken: "7:token-of-it" } } },
    "channels.botchat.accounts.work.botToken: is the same as $BOTCHAT_BOT_TOKEN",
  ],
])("an account with %s is rejected in a sentence that names both places", async (_name, section, expected) => {
  const environment: Readonly<Record<string, string>> = JSON.stringify(section).includes('"default":{},"work"')
    ? { BOTCHAT_BOT_TOKEN: "7:token-of-it" }
    : {};
  const found = await problemsOf(section, environment);
  expect(found.map(({ severity, path, message }) => [severity, `${path}: ${message}`])).toEqual([["error", expected]]);
  expect(JSON.stringify(found)).not.toContain("token-");
});

test("an invalid token and a webhook without a secret are reported with their paths, without the token", async () => {
  const found = await problemsOf({
    webhookUrl: "https://example.org/hook",
    accounts: {
      a: { botToken: "not-a-real-token" },
      b: { botToken: "7:x" },
      c: { botToken: "8:x", webhookSecret: "secret-of-the-test" },
    },
  });
  expect(found.map(({ path, message }) => `${path}: ${message.split(" (")[0]}`)).toEqual([
    "channels.botchat.accounts.a.botToken: does not look like a bot token",
    "channels.botchat.accounts.a.webhookSecret: is missing, and webhookUrl needs it",
    "channels.botchat.accounts.b.webhookSecret: is missing, and webhookUrl needs it",
  ]);
  expect(JSON.stringify(found)).not.toContain("not-a-real");
});

test.each([
  ["http://bots.example.org", true],
  ["http://93.184.216.34:8081", true],
  ["https://bots.example.org", false],
  ["http://127.0.0.1:8081", false],
  ["http://192.168.1.9:8081", false],
  ["http://bot-api:8081", false],
])("with apiRoot %s, a warning that the token travels without encryption: %s", async (apiRoot, isWarned) => {
  const found = await problemsOf({ botToken: "7:x", apiRoot });
  expect(found.map(({ severity, path, message }) => `${severity} ${path}: ${message}`)).toEqual(
    isWarned
      ? ["warning channels.botchat.apiRoot: sends the token of the bot without encryption to another network"]
      : [],
  );
});

const listening = async (accounts: object, root: object = {}) =>
  (
    await problemsOf({ webhookUrl: "https://example.org/hook", webhookSecret: "secret-of-the-test", ...root, accounts })
  ).map(({ path, message, hint }) => [`${path}: ${message}`, hint]);

test.each<[string, object, object, string]>([
  ["by default", { a: { botToken: "1:a" }, b: { botToken: "2:b" } }, {}, "accounts.b.webhookPort: is 8787"],
  ["by the root", { a: { botToken: "1:a" }, b: { botToken: "2:b" } }, { webhookPort: 9000 }, "webhookPort: is 9000"],
  [
    "with paths that differ",
    { a: { botToken: "1:a", webhookPath: "/a" }, b: { botToken: "2:b" } },
    {},
    "accounts.b.webhookPort: is 8787",
  ],
  [
    "one of them everywhere",
    { a: { botToken: "1:a" }, b: { botToken: "2:b", webhookHost: "0.0.0.0" } },
    {},
    "accounts.b.webhookPort: is 8787",
  ],
  [
    "by another name",
    { a: { botToken: "1:a" }, b: { botToken: "2:b", webhookHost: "localhost" } },
    {},
    "accounts.b.webhookPort: is 8787",
  ],
])(
  "of two accounts that listen on the same address, %s, the second is rejected with both paths",
  async (_name, accounts, root, expected) => {
    expect(await listening(accounts, root)).toEqual([
      [
        `channels.botchat.${expected}, and channels.botchat.accounts.a listens there already`,
        "Set channels.botchat.accounts.b.webhookPort to a port of its own, even if the paths differ.",
      ],
    ]);
  },
);

test("accounts may share a configuration if they poll, differ in ports, or one is disabled", async () => {
  const a = { botToken: "1:a" };
  expect(await problemsOf({ accounts: { a, b: { botToken: "2:b" } } })).toEqual([]);
  expect(await listening({ a, b: { botToken: "2:b", webhookPort: 8788 } })).toEqual([]);
  expect(await listening({ a, b: { botToken: "2:b", webhookHost: "127.0.0.2" } })).toEqual([]);
  expect(await listening({ a, b: { botToken: "2:b" } }, { webhookPort: 0 })).toEqual([]);
  expect(await listening({ a: { ...a, enabled: false }, b: { botToken: "2:b" } })).toEqual([]);
});

test("of several credentials, the sentence names the one that two accounts share", async () => {
  const channel = {
    ...botchat.channel,
    ...plain,
    id: "plaza",
    credentials: ["token", "signingSecret"],
    options: Type.Object({ token: Type.String(), signingSecret: Type.String() }),
    connectionOptions: undefined,
  } as unknown as CalledChannel;
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const accounts = { acme: { token: "1", signingSecret: "x" }, beta: { token: "2", signingSecret: "x" } };
  const problems = (await readAccounts(channel, { accounts }, from)).flatMap((account) => account.problems);
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    "channels.plaza.accounts.beta.signingSecret: is the same as channels.plaza.accounts.acme.signingSecret",
  ]);
});

test("a wrong required option that the connection depends on is refused by its path", async () => {
  const channel = {
    ...botchat.channel,
    ...plain,
    options: Type.Object({ url: Type.String() }),
    connectionOptions: ["url"],
  } as unknown as CalledChannel;
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const [account] = await readAccounts(channel, { url: 7 }, from);
  expect([account?.settings, account?.problems[0]?.path]).toEqual([undefined, "channels.botchat.url"]);
});

test("a channel whose own check fails disables only its account, with the reason", async () => {
  const channel = {
    ...botchat.channel,
    check({ botToken }: { readonly botToken?: string }) {
      if (botToken === "7:x") throw new Error("no idea");
      return [];
    },
    signsInAs() {
      throw new Error("no idea either");
    },
  } as unknown as NonNullable<typeof botchat.channel>;
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const read = await readAccounts(channel, { accounts: { a: { botToken: "7:x" }, b: { botToken: "8:x" } } }, from);
  expect(
    read.map(({ settings, problems }) => [settings !== undefined, problems.map(({ message }) => message)]),
  ).toEqual([
    [false, ["cannot be checked by its channel: no idea"]],
    [true, []],
  ]);
});

test.each([
  ["an option that is marked", {}, { server: "chat.example.org", tls: false, password: "secret" }, true],
  [
    "one inside a list",
    {},
    { server: "chat.example.org", tls: false, rooms: [{ name: "a" }, { name: "b", key: "secret" }] },
    true,
  ],
  ["one that the channel lists", { secrets: ["pin"] }, { server: "chat.example.org", tls: false, pin: "1234" }, true],
  ["none", {}, { server: "chat.example.org", tls: false, rooms: [{ name: "a" }] }, false],
  ["one that is encrypted", {}, { server: "chat.example.org", password: "secret" }, false],
  ["one that stays on this machine", {}, { server: "127.0.0.1", tls: false, password: "secret" }, false],
  [
    "one for a server that only begins like this machine",
    {},
    { server: "127.example.org", tls: false, password: "secret" },
    true,
  ],
])(
  "a secret that would be sent unencrypted to another machine is rejected: %s",
  async (_, change, section, refused) => {
    const options = Type.Object({
      ...serverOptions({ port: 7000 }),
      password: Type.Optional(secretText({ description: "Password." })),
      pin: Type.Optional(Type.String()),
      rooms: Type.Array(Type.Object({ name: Type.String(), key: Type.Optional(secretText({ description: "Key." })) }), {
        default: [],
      }),
    });
    const channel: CalledChannel = { ...(botchat.channel as ChannelDefinition), ...plain, options, ...change };
    const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
    const [account] = await readAccounts(channel, section, from);
    expect({ problems: account?.problems, isOff: account?.settings === undefined }).toEqual({
      problems: refused
        ? [
            {
              severity: "error",
              path: "channels.botchat.tls",
              message: "is false, so the password would be sent unencrypted",
              hint: "Set tls to true, or remove the password.",
            },
          ]
        : [],
      isOff: refused,
    });
  },
);

test("different bots and disabled accounts are not reported as duplicates", async () => {
  expect(
    await problemsOf({
      accounts: { a: { botToken: "7:x" }, b: { botToken: "77:x" }, c: { botToken: "7:x", enabled: false } },
    }),
  ).toEqual([]);
});

test("accounts are checked in parallel; those after a faulty account are checked again without it", async () => {
  const channel = botchat.channel as ChannelDefinition;
  const accounts = ["first", "second", "third"];
  const all = Promise.withResolvers<void>();
  const asked: string[] = [];
  const check: CalledChannel["check"] = async (_options, { path, before }) => {
    asked.push(
      `${path.split(".").at(-1)} after ${before.map((other) => other.path.split(".").at(-1)).join(" and ") || "none"}`,
    );
    if (asked.length === accounts.length) all.resolve();
    // One after the other, none would ever be answered.
    await all.promise;
    return path.endsWith("first") ? [{ option: "apiRoot", message: "is closed", hint: "Open it." }] : [];
  };
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const section = {
    accounts: Object.fromEntries(accounts.map((name, index) => [name, { botToken: `${index + 1}:token-of-it` }])),
  };
  const read = await readAccounts({ ...channel, check }, section, from);
  expect(read.map(({ id, settings }) => `${id} ${settings === undefined ? "off" : "on"}`)).toEqual([
    "first off",
    "second on",
    "third on",
  ]);
  expect(asked).toEqual([
    "first after none",
    "second after first",
    "third after first and second",
    "second after none",
    "third after second",
  ]);
});

test("an account whose check does not respond is not checked again", async () => {
  let asked = 0;
  const check: CalledChannel["check"] = async (_options, { path }) => {
    asked += 1;
    throw new Error(`no answer for ${path}`);
  };
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const accounts = { first: { botToken: "1:token-of-it" }, second: { botToken: "2:token-of-it" } };
  const read = await readAccounts({ ...(botchat.channel as ChannelDefinition), check }, { accounts }, from);
  expect(read.flatMap(({ problems }) => problems.map(({ message }) => message))).toEqual([
    "cannot be checked by its channel: no answer for channels.botchat.accounts.first",
    "cannot be checked by its channel: no answer for channels.botchat.accounts.second",
  ]);
  expect(asked).toBe(2);
});

test.each([
  ["a variable that is not set", { token: { env: "NOPE" } }, "channels.desk.token"],
  [
    "a variable that is not set, deeper in the options",
    { token: "t", proxy: { password: { env: "NOPE" } } },
    "channels.desk.proxy.password",
  ],
  ["a file that does not exist", { tokenFile: "/nope" }, "channels.desk.tokenFile"],
])("a required secret from %s is reported as unreadable and not also as missing", async (_name, section, path) => {
  const definition = {
    ...plain,
    id: "desk",
    options: Type.Object({
      token: Type.String({ minLength: 1 }),
      tokenFile: Type.Optional(Type.String()),
      proxy: Type.Optional(Type.Object({ password: secretText({ description: "Password of the proxy." }) })),
    }),
    secrets: ["token"],
    secretFiles: { tokenFile: "token" },
  } as unknown as CalledChannel;
  const found = await readAccounts(definition, section, {
    secrets: createSecrets({ env: {}, directory: "/" }),
    environment: {},
  });
  expect(found.flatMap(({ problems }) => problems.map((problem) => problem.path))).toEqual([path]);
});

test("a wrong value of a required option is reported, also if the option belongs to the connection", async () => {
  const options = Type.Object({ place: Type.String({ description: "Where it is." }) });
  const channel: CalledChannel = {
    ...(botchat.channel as ChannelDefinition),
    ...plain,
    ...{ options, connectionOptions: ["place"] },
  };
  const from = { secrets: createSecrets({ env: {}, directory: "/" }), environment: {} };
  const [account] = await readAccounts(channel, { place: { no: "text" } }, from);
  expect(account?.settings).toBeUndefined();
  expect(account?.problems).toMatchObject([{ severity: "error", path: "channels.botchat.place" }]);
});
