/**
 * A gateway with a tool that asks first, everyone and everything that can cause its call, and a second channel with two
 * accounts.
 */
import { definePlugin, type EngineTurn, type Json, type PluginHost, Type } from "service-gateway/sdk";
import { type ChannelAccount, type ChannelInbound, defineChannel } from "service-gateway/sdk/channel";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { expect, onTestFinished, vi } from "vitest";
import schedule from "../../../../plugins/schedule/index.ts";

export const until = <Result>(check: () => Result): Promise<Result> =>
  vi.waitFor(check, { timeout: 20_000, interval: 5 });

interface Sent {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly text: string;
  readonly buttons: readonly string[];
}

/** A person on the channel `tin`. */
export interface TinMessage {
  readonly account?: "one" | "two";
  readonly from?: string;
  readonly forwarded?: true;
  readonly bot?: true;
}

/** A channel with two accounts, for the same person elsewhere. */
function createTin() {
  const sent: Sent[] = [];
  const accounts = new Map<string, ChannelAccount<object>>();
  let updates = 0;
  const plugin = defineChannel({
    id: "tin",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: {
      ...{
        maxChars: 20_000,
        markup: "rich",
        edits: false,
        threads: true,
        reactions: false,
        media: false,
        buttons: true,
      },
      ...{ typing: false, menu: false },
    },
    open(account) {
      accounts.set(account.id, account);
      return {
        async start() {
          account.status({ state: "connected", identity: { id: account.id, username: account.id } });
        },
        parse: (raw) => raw as unknown as ChannelInbound,
        render: ({ text, buttons }) => [
          { kind: "text", chars: text.length, body: { text, buttons } as unknown as Json },
        ],
        async send({ body }, { chat }) {
          const { text, buttons } = body as unknown as { text: string; buttons: { text: string }[][] };
          sent.push({
            channel: "tin",
            account: account.id,
            chat,
            text,
            buttons: buttons.flat().map((button) => button.text),
          });
          return { messageId: `tin-${sent.length}` };
        },
        async close() {},
      };
    },
  });
  async function say(text: string, { account = "one", from = "owner", forwarded, bot }: TinMessage): Promise<string> {
    const opened = accounts.get(account);
    if (opened === undefined) throw new Error(`tin:${account} is not open.`);
    updates += 1;
    const inbound: ChannelInbound = {
      ...{
        kind: "message",
        chat: { id: from, kind: "direct" },
        text,
        media: [],
        mention: true,
        timestamp: opened.now(),
      },
      sender: { id: from, name: from, ...(bot === true && { isBot: true }) },
      messageId: `in-${updates}`,
      ...(forwarded === true && { forward: { from: "Somebody" } }),
    };
    return (await opened.receive(inbound as unknown as Json, { id: `tin-${updates}`, lane: `tin:${account}:${from}` }))
      .eventId;
  }
  return { plugin, sent, say };
}

/** Calls the tool in every turn but for a greeting, shows a button, or sets a reminder. */
async function act({ inbound, tools }: EngineTurn, signal: AbortSignal): Promise<string> {
  const { text } = inbound;
  const call = async (name: string, args: Json) =>
    JSON.stringify((await tools.find((tool) => tool.name === name)?.run(args, signal)) ?? "no tool");
  if (text === "hello") return "Hello!";
  if (text === "show") {
    await call("buttons", { rows: [[{ text: "Write", callback_data: "write" }]] });
    return "Press it.";
  }
  if (text.startsWith("remind")) return await call("remind", { text: "write", in: "1m", kind: "ask" });
  return await call("burn", { what: "the letters" });
}

export interface GrantLab {
  readonly host: TestHost;
  readonly tin: ReturnType<typeof createTin>;
  /** How often the tool has run. */
  runs(): number;
  /** A plugin hands in a webhook, as a mailbox does. */
  handIn(): Promise<unknown>;
  /**
   * What happens with the call that this causes. An owner denies it if they are asked. `asked once` offers no grant.
   */
  outcome(cause: () => Promise<unknown>): Promise<"ran" | "asked" | "asked once">;
  /** Causes a call, and an owner allows it until /new. */
  grant(cause: () => Promise<unknown>): Promise<void>;
}

/** The summary of a webhook waits, and causes no heartbeat of its own. */
const late = { deliver: false, wakeMode: "next-heartbeat" };

let letters = 0;

export async function openGrantLab({ config = {}, ...options }: TestHostOptions = {}): Promise<GrantLab> {
  let runs = 0;
  let plugin: PluginHost | undefined;
  const lab = definePlugin({
    id: "lab",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      plugin = host;
      host.tool({
        name: "burn",
        description: "Burns something.",
        parameters: Type.Object({ what: Type.String() }),
        needsApproval: true,
        run() {
          runs += 1;
          return "ashes";
        },
      });
    },
  });
  const tin = createTin();
  const { agents, hooks, ...sections } = config as { agents?: object; hooks?: object };
  const host = await createTestHost({
    plugins: [lab, tin.plugin, schedule],
    answer: act,
    ...options,
    config: {
      channels: { tin: { dmPolicy: "open", allowFrom: ["*", "robot"], accounts: { one: {}, two: {} } } },
      schedules: { night: { every: "12h", message: "write", session: "main" } },
      ...sections,
      agents: {
        defaults: { timezone: "UTC", heartbeat: { every: "0" }, tools: { approveAt: "loopback:owner" } },
        ...agents,
      },
      hooks: {
        allowRequestSessionKey: true,
        allowedSessionKeyPrefixes: ["agent:", "hook:"],
        mappings: [
          {
            id: "fixed",
            match: { path: "fixed" },
            messageTemplate: "{{ text }}",
            sessionKey: "agent:main:main",
            ...late,
          },
          {
            id: "issues",
            match: { path: "issues" },
            name: "{{ who }}",
            messageTemplate: "{{ text }}",
            sessionKey: "hook:issues",
            ...late,
          },
          {
            id: "letter",
            match: { path: "letter" },
            messageTemplate: "{{ text }}",
            sessionKey: "agent:main:main",
            ...late,
          },
        ],
        ...hooks,
      },
    },
  });
  onTestFinished(() => host.close());

  const questions = () =>
    [
      ...host.outbox().map(({ text, chat, buttons }) => ({
        at: "loopback",
        chat,
        text,
        buttons: buttons.flat().map((one) => one.text),
      })),
      ...tin.sent.map(({ account, chat, text, buttons }) => ({ at: account, chat, text, buttons })),
    ].filter(({ text }) => text.includes("asks to use `burn`"));
  const codeOf = ({ text }: { readonly text: string }) => /`\/approve ([A-Z2-9]{8})`/.exec(text)?.[1] ?? "";
  const known = new Set<string>();
  const freshQuestion = () => questions().find((question) => !known.has(codeOf(question)));

  async function answer(command: string, { at }: { readonly at: string }): Promise<void> {
    if (at === "loopback") await host.say(command);
    else await host.settled(await tin.say(command, { account: at as "one" | "two" }));
  }

  /** The question that this causes; `undefined` if the tool runs. */
  async function ask(
    cause: () => Promise<unknown>,
  ): Promise<{ readonly done: Promise<unknown>; readonly question: ReturnType<typeof freshQuestion> }> {
    for (const question of questions()) known.add(codeOf(question));
    const before = runs;
    let isOver = false;
    const done = cause().finally(() => {
      isOver = true;
    });
    done.catch(() => {});
    await until(() => {
      if (freshQuestion() === undefined && runs === before && !isOver) throw new Error("nothing has happened yet");
    });
    const question = freshQuestion();
    if (question === undefined && runs === before) {
      await done;
      await until(() => expect(freshQuestion() !== undefined || runs > before, "neither asked nor run").toBe(true));
    }
    return { done, question: freshQuestion() };
  }

  return {
    host,
    tin,
    runs: () => runs,
    handIn: async () => {
      letters += 1;
      return await plugin?.hook("letter", { text: "write" }, { key: `letter-${letters}` });
    },
    async outcome(cause) {
      const { done, question } = await ask(cause);
      if (question === undefined) {
        await done;
        return "ran";
      }
      await answer(`/deny ${codeOf(question)}`, question);
      await done;
      return question.buttons.some((button) => button.endsWith("until /new")) ? "asked" : "asked once";
    },
    async grant(cause) {
      const { done, question } = await ask(cause);
      if (question === undefined) throw new Error("The tool ran without a question.");
      await answer(`/approve ${codeOf(question)} session`, question);
      await done;
    },
  };
}
