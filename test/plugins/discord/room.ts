/** A gateway with the channel, connected to the stand-in. */
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import discord from "../../../plugins/discord/index.ts";
import { type DiscordServer, startDiscord } from "../../support/discord/server.ts";
import { botId, type Channel } from "../../support/discord/world.ts";
import { expect, onTestFinished } from "../../support/own-test.ts";

export interface Room {
  readonly server: DiscordServer;
  readonly host: TestHost;
  /** Texts of the bot that everyone in the chat sees. */
  readonly answers: (channel: Channel) => readonly string[];
  /** Texts that the agent was asked to answer, oldest first. */
  readonly heard: readonly string[];
  /** The whole conversation of each turn, as JSON. */
  readonly conversations: readonly string[];
  readonly state: () => Promise<object | undefined>;
  /** Plays time until a condition holds. */
  readonly until: (condition: () => boolean | Promise<boolean>, sentence?: string) => Promise<void>;
}

const access = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: false } } };

export async function openRoom({
  options = {},
  answer = ({ inbound }) => `heard: ${inbound.text}`,
  prepare = () => {},
  isConnected = true,
  config = {},
  ...how
}: Parameters<typeof startDiscord>[0] & {
  readonly options?: object;
  readonly answer?: TestHostOptions["answer"];
  readonly config?: object;
  readonly prepare?: (server: DiscordServer) => void;
  readonly isConnected?: boolean;
} = {}): Promise<Room> {
  // What the platform says of time is about the time of the gateway, which the test plays.
  let now = Date.now;
  const server = await startDiscord({ now: () => now(), ...how });
  onTestFinished(() => server.close());
  prepare(server);
  const heard: string[] = [];
  const conversations: string[] = [];
  const host = await createTestHost({
    plugins: [discord],
    config: { channels: { discord: { token: server.token, apiRoot: server.root, ...access, ...options } }, ...config },
    answer(turn, signal) {
      heard.push(turn.inbound.text);
      conversations.push(JSON.stringify(turn.messages));
      return answer?.(turn, signal) ?? "";
    },
    allowErrors: [/./],
  });
  onTestFinished(() => host.close());
  now = () => host.now();
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "discord");
  const room: Room = {
    ...{ server, host, heard, conversations, state },
    answers: ({ messages }) =>
      [...messages.values()].flatMap(({ author, content, onlyFor }) =>
        author.id === botId && onlyFor === undefined ? [content] : [],
      ),
    async until(condition, sentence = "the condition does not hold") {
      for (let tries = 0; !(await condition()); tries += 1) {
        if (tries > 600) throw new Error(`${sentence}: ${JSON.stringify(await state())}`);
        await host.advance(200);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
  if (isConnected) await expect.poll(state).toMatchObject({ state: "connected" });
  return room;
}
