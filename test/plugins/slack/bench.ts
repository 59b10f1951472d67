/** A gateway with the channel, and a workspace of Slack. */
import { definePlugin } from "service-gateway/sdk";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import slack from "../../../plugins/slack/index.ts";
import { expect, onTestFinished } from "../../support/own-test.ts";
import { appToken, botToken, type ServerOptions, type SlackServer, startSlack } from "../../support/slack/server.ts";
import { adaDirect, bot, shownText } from "../../support/slack/world.ts";

export interface SlackBench {
  readonly server: SlackServer;
  readonly host: TestHost;
  /** What the bot has written in a channel, as people see it. */
  seen(channel?: string): readonly string[];
  /** The ends of all events, as `outcome reason`. */
  readonly ends: string[];
  /** The state of the account. */
  state(): Promise<Awaited<ReturnType<TestHost["accounts"]>>[number] | undefined>;
}

const echo: NonNullable<TestHostOptions["answer"]> = ({ inbound }) => `heard: ${inbound.text}`;

export async function openSlack({
  options = {},
  server: given,
  serverOptions = {},
  until = "connected",
  ...how
}: {
  readonly options?: object;
  readonly server?: SlackServer;
  readonly serverOptions?: ServerOptions;
  readonly until?: string | null;
} & Pick<TestHostOptions, "answer" | "directory"> = {}): Promise<SlackBench> {
  const server = given ?? (await startSlack(serverOptions));
  if (given === undefined) onTestFinished(() => server.close());
  const ends: string[] = [];
  const watch = definePlugin({
    id: "watch",
    version: "1.0.0",
    host: "^0.2.0",
    setup: (given) => given.tap("settled", ({ outcome, reason }) => void ends.push(`${outcome} ${reason}`)),
  });
  const access = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", ackReaction: "" };
  const host = await createTestHost({
    plugins: [slack, watch],
    answer: how.answer ?? echo,
    ...(how.directory !== undefined && { directory: how.directory }),
    config: {
      channels: { slack: { botToken, appToken, apiUrl: server.apiUrl, ...access, ...options } },
      session: { dmScope: "per-channel-peer" },
    },
    allowErrors: [/./],
  });
  onTestFinished(() => host.close());
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "slack");
  if (until !== null) await expect.poll(state).toMatchObject({ state: until });
  const seen = (channel = adaDirect) =>
    (server.world.channels.get(channel)?.messages ?? []).filter(({ user }) => user === bot.user).map(shownText);
  return { server, host, seen, ends, state };
}
