/**
 * A webhook or a mail whose reply a person has read is one message and one call of the model, with the default
 * `wakeMode`.
 */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import mail from "../../plugins/mail/index.ts";
import { say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { letter } from "../support/mail/reader.ts";
import { answered, answers, hookToken, openChannel, openPlatform, people, postHook } from "./room.ts";

async function open(hooks: object = {}) {
  const platform = await openPlatform();
  const server = await createOpenAiServer({ answer: () => say("The model's answer.") });
  const directory = temporaryDirectory();
  const host = await createTestHost({
    directory,
    plugins: [botchat, ai, mail],
    config: {
      agents: { defaults: { model: "local/small" } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: server.url } } },
      hooks: { enabled: true, token: hookToken, ...hooks },
      channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    },
  });
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  onTestFinished(async () => {
    await store.close();
    await host.close();
    await server.close();
    removeDirectory(directory);
  });
  const [ada = 0] = people(platform);
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "The model's answer.");
  const asked = (index: number) => JSON.stringify(server.requests[index]?.body.messages);
  /** How many answers Ada has read, and how many calls of the model there were, since her greeting. */
  const counts = () => ({ answers: answers(platform, ada).length - 1, calls: server.requests.length - 1 });
  const summary = async () => (await store.events({ limit: 100 })).find(({ kind }) => kind === "summary");
  /** The heartbeat that the summary asked for has ended; the summary waits. */
  const quiet = async () => {
    await expect
      .poll(async () => (await summary())?.decisions.map(({ code }) => code) ?? [])
      .toContain("delivered_already");
    expect((await summary())?.state).toBe("waiting");
  };
  return { platform, host, ada, asked, counts, summary, quiet };
}

const mapping = { id: "report", match: { path: "report" }, messageTemplate: "Report: {{ text }}" };

test.each([
  ["the endpoint for agents", "agent", { message: "Say hello." }, "Hook"],
  // The model reads which one it is, although it has no name.
  ["a mapping", "report", { text: "3 jobs done" }, "report"],
])(
  "%s causes one message and one call, and the next turn of the conversation reads about it",
  async (_name, path, body, hook) => {
    const { platform, host, ada, asked, counts, summary, quiet } = await open({ mappings: [mapping] });
    expect((await postHook(host.url, path, body)).ok).toBe(true);
    await quiet();
    expect(counts()).toEqual({ answers: 1, calls: 1 });
    expect(asked(1)).toContain(`Source: webhook\\nHook: ${hook}\\n`);
    platform.act.say(ada, ada, "what was that?");
    await expect.poll(counts).toEqual({ answers: 2, calls: 2 });
    expect(asked(2)).toMatch(/summary:.*The model's answer\..*what was that\?/);
    await expect.poll(async () => (await summary())?.outcome).toBe("answered");
  },
);

test("a mail causes one message and one call", async () => {
  const imap = await startImapServer();
  onTestFinished(() => imap.close());
  const ada = {
    host: "127.0.0.1",
    port: imap.port,
    tls: false,
    user: "ada",
    password: imap.password(),
    pollSeconds: 5,
  };
  const { counts, quiet } = await open({ imap: { accounts: { ada } } });
  await expect.poll(() => imap.count("IDLE")).toBeGreaterThan(0);
  imap.deliverAll([letter("The invoice")]);
  await quiet();
  expect(counts()).toEqual({ answers: 1, calls: 1 });
});

test("a reply sent to another person is news for the recipient of the heartbeat", async () => {
  const { platform, host, counts, ada } = await open();
  const [, bela = 0] = people(platform);
  platform.act.say(bela, bela, "hello");
  await answered(platform, bela, "The model's answer.");
  await postHook(host.url, "agent", { message: "Say hello.", channel: "botchat", to: String(ada) });
  await expect.poll(() => answers(platform, bela).length).toBe(2);
  expect(counts()).toEqual({ answers: 1, calls: 3 });
});
