/** A gateway with the channel, on a stand-in of the server. */
import { definePlugin } from "service-gateway/sdk";
import { createTestHost, type TestHostOptions } from "service-gateway/testkit";
import mattermost from "../../../plugins/mattermost/index.ts";
import { type Mattermost, startMattermost } from "../../support/mattermost/server.ts";
import { expect, onTestFinished } from "../../support/own-test.ts";

type TurnRecord = { readonly eventId: string; readonly outcome: string; readonly reason: string };

export interface Opened {
  readonly server: Mattermost;
  readonly host: Awaited<ReturnType<typeof createTestHost>>;
  /** The texts of the bot in a channel, or in the direct chat with Ada. */
  answers(channel?: Mattermost["room"]): readonly string[];
  until(holds: () => boolean): Promise<void>;
  /** Plays the time until this holds, such as a wait before the next connection. */
  playUntil(holds: () => boolean): Promise<void>;
  /** How the events ended that came to a turn, oldest first. */
  readonly ends: readonly TurnRecord[];
  /** Why all events ended that had ended when the time was last played. */
  reasons(): readonly string[];
}

/** Everyone may write, and messages in channels need a mention. */
export async function openHost(
  options: Readonly<Record<string, unknown>> = {},
  { answer = ({ inbound }) => `heard: ${inbound.text}`, config = {} }: Pick<TestHostOptions, "answer" | "config"> = {},
): Promise<Opened> {
  const server = await startMattermost();
  onTestFinished(() => server.close());
  const account = {
    ...{ url: server.url, token: server.bot.token, callbackUrl: "http://gateway.example" },
    ...{ dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", retry: { minDelayMs: 20, maxDelayMs: 200 } },
    ...options,
  };
  const channels = { mattermost: account };
  const ends: TurnRecord[] = [];
  const watch = definePlugin({
    id: "watch",
    version: "1.0.0",
    host: "^0.2.0",
    setup: (platform) => platform.tap("settled", (record) => void ends.push(record)),
  });
  const host = await createTestHost({
    plugins: [mattermost, watch],
    answer,
    config: { channels, session: { dmScope: "per-channel-peer" }, ...config },
    allowErrors: [/./],
  });
  onTestFinished(() => host.close());
  server.integrations((url, init) => host.fetch(new URL(url).pathname, init));
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "mattermost")?.state;
  if (options.token === undefined) await expect.poll(state, { interval: 5 }).toBe("connected");
  return {
    ...{ server, host, ends },
    answers: (channel = server.chat) => server.posts(channel, server.bot).map(({ message }) => message),
    until: async (holds) => void (await expect.poll(holds, { interval: 5, timeout: 5_000 }).toBe(true)),
    async playUntil(holds) {
      await expect
        .poll(async () => holds() || (await host.advance(500).then(holds)), { interval: 5, timeout: 5_000 })
        .toBe(true);
    },
    reasons: () => host.ended().map(({ reason }) => reason),
  };
}
