/** A gateway in this process on the emulated platform, with an agent that a test writes and whose turns it sees. */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import type { EngineTurn, PluginDefinition, TurnEvent } from "../../core/sdk/contract.ts";
import type { EventReport } from "../../core/state/report.ts";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import type { Message, Platform } from "../../plugins/playground/platform/index.ts";
import { root } from "../house/sources.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { expect, onTestFinished } from "../support/own-test.ts";
import { isIsolated, openChannel, openPlatform, people } from "./room.ts";

/** Groups of the emulated platform. */
export const kitchen = -1_001_000_000_001;
export const workshop = -1_001_000_000_002;

export interface Conversation {
  readonly platform: Platform;
  readonly ada: number;
  readonly bela: number;
  /** Every turn of the agent, over all starts. */
  readonly turns: readonly EngineTurn[];
  start(): Promise<{ readonly stateDirectory: string; close(): Promise<void> }>;
  /** Ends of events, oldest first, as `outcome reason`. */
  ends(): Promise<readonly string[]>;
  /** Every event with what was decided about it, oldest first. */
  events(): Promise<readonly EventReport[]>;
  /** Resolves when the agent was asked so often. */
  asked(count: number): Promise<void>;
  /** Resolves when so many events have ended. */
  ended(count: number): Promise<readonly string[]>;
  /** What the agent was asked last. */
  lastAsked(): string;
  notices(): readonly { readonly id: string; readonly text: string | undefined }[];
  /** The bot's messages in a chat. */
  messages(chat: number): readonly Message[];
}

export interface ConversationOptions {
  readonly channel?: object;
  readonly config?: { readonly commands?: object; readonly [section: string]: unknown };
  /** The agent's answer; default `answer <n>`. */
  readonly answer?: (turn: EngineTurn, count: number) => string | Promise<string> | AsyncIterable<TurnEvent>;
  readonly privacy?: boolean;
  readonly plugins?: readonly PluginDefinition[];
}

export async function converse(options: ConversationOptions = {}): Promise<Conversation> {
  const { channel = {}, config = {}, answer, privacy = false, plugins = [] } = options;
  const platform = await openPlatform({ privacy });
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const turns: EngineTurn[] = [];
  const [ada = 0, bela = 0] = people(platform);
  const whole = {
    log: { level: "info" },
    channels: { botchat: openChannel(platform, { groupPolicy: "open", streamMode: "off", ...channel }) },
    ...(isIsolated && {
      plugins: { load: [join(root, "plugins", "botchat")], entries: { botchat: { isolation: "worker" } } },
    }),
    ...config,
    // The owners are those of the channel, unless the test names them.
    commands: { ownerAllowFrom: undefined, ...config.commands },
  };
  const conversation: Conversation = {
    platform,
    ada,
    bela,
    turns,
    async start() {
      const host = await createTestHost({
        directory,
        config: whole,
        plugins: [...(isIsolated ? [] : [botchat]), ...plugins],
        answer(turn) {
          turns.push(turn);
          return answer?.(turn, turns.length) ?? `answer ${turns.length}`;
        },
        // What a test makes the platform do is logged.
        allowErrors: [/^error in the log/],
      });
      onTestFinished(() => host.close());
      return { stateDirectory: join(host.directory, "state"), close: () => host.close() };
    },
    ends: () => endsOf(directory),
    events: () => eventsIn(directory),
    asked: (count) => expect.poll(() => turns.length).toBeGreaterThanOrEqual(count),
    async ended(count) {
      const done = async () => (await conversation.ends()).filter((end) => end.includes(" ")).length;
      await expect.poll(done).toBeGreaterThanOrEqual(count);
      return conversation.ends();
    },
    lastAsked: () => turns.at(-1)?.messages.at(-1)?.text ?? "",
    notices: () =>
      platform.calls
        .list({ method: "answerCallbackQuery" })
        .map(({ params }) => ({ id: String(params.callback_query_id), text: params.text as string | undefined })),
    messages: (chat) =>
      [...([...platform.world.rooms.values()].find((room) => room.chat.id === chat)?.messages.values() ?? [])].filter(
        ({ from }) => from?.is_bot === true,
      ),
  };
  return conversation;
}

/** How each event ended, or where it stands; oldest first. Read from the state, whether or not a gateway runs. */
export async function endsOf(directory: string): Promise<readonly string[]> {
  return (await eventsIn(directory)).map(({ state, outcome, reason }) =>
    state === "settled" ? `${outcome} ${reason}` : state,
  );
}

async function eventsIn(directory: string): Promise<readonly EventReport[]> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  try {
    return (await store.events({ limit: 100 })).toReversed();
  } finally {
    await store.close();
  }
}
