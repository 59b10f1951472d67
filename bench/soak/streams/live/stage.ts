/**
 * A gateway in a process of its own, the platform with the rate limits of the real one, and a model that writes each
 * stream at its rate.
 */
import { once } from "node:events";
import { join } from "node:path";
import { type Chance, createPlatform, type Platform } from "../../../../plugins/playground/platform/index.ts";
import { write } from "../../../../test/openai-server/answers.ts";
import { createOpenAiServer } from "../../../../test/openai-server/index.ts";
import type { Workshop } from "../../../cases/processes.ts";
import { type End, readEnds } from "../../state.ts";
import { charsOfToken, type Stream } from "../stream.ts";

export interface Stage {
  readonly platform: Platform;
  /** How each finished stream ended, by seed, as of a moment ago. */
  ends(): ReadonlyMap<number, End>;
  /** Whether the gateway is still running. */
  isUp(): boolean;
  /** Stops the gateway; resolves with its exit code or signal. */
  stop(): Promise<number | string>;
  close(): Promise<void>;
}

/** Each seat has its own person and group. */
export const personOf = (position: number) => 1_001 + position;
export const groupOf = (position: number) => -1_001_000_000_001 - position;

/** The platform's limits; the gateway's own limits are the defaults. */
const limits = { perBotPerSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 };
/** An unanswered call is given up after this time. */
const timeoutSeconds = 5;
const stopMs = 30_000;
/** Many streams ask at the same time how they ended. */
const readEveryMs = 100;

/** Settings belong to an account, so each pair of settings has its own bot. */
const accountOf = ({ mode, messageLimit }: Pick<Stream, "mode" | "messageLimit">) => `${mode}${messageLimit}`;
export const botOf = (stream: Pick<Stream, "mode" | "messageLimit">) => `${accountOf(stream)}_bot`;
const settings = (["partial", "block"] as const).flatMap((mode) =>
  [1_000, 4_000].map((messageLimit) => ({ mode, messageLimit })),
);
const tokenOf = (index: number) => `${4_242 + index}:stream-bot-token`;

const seedIn = (text: string) => Number(/\bstream (\d+)\b/.exec(text)?.[1]);

export async function openStage(
  workshop: Workshop,
  {
    people,
    streams,
    chance,
    spoilt,
  }: {
    readonly people: number;
    /** By seed. */
    readonly streams: ReadonlyMap<number, Stream>;
    readonly chance: Chance;
    /** Overrides the options of the channel. */
    readonly spoilt: object;
  },
): Promise<Stage> {
  const places = Array.from({ length: people }, (_, position) => position);
  const platform = await createPlatform({
    bots: settings.map((pair, index) => ({ token: tokenOf(index), username: botOf(pair), name: accountOf(pair) })),
    seed: {
      people: places.map((position) => ({ id: personOf(position), first_name: `Person ${position}` })),
      groups: places.map((position) => ({
        id: groupOf(position),
        type: "supergroup",
        title: `Group ${position}`,
        members: [personOf(position)],
      })),
    },
    limits,
  });
  platform.faults.leaveTo(chance);
  const model = await createOpenAiServer({
    answer(asked) {
      const { text = "", tokensPerSecond = 1 } = streams.get(seedIn(asked)) ?? {};
      return write(text, { charsPerSecond: tokensPerSecond * charsOfToken });
    },
  });
  const config = workshop.config("streams", {
    session: { dmScope: "per-account-channel-peer" },
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: { defaults: { model: "local/writer", maxConcurrent: people, heartbeat: { every: "0" } } },
    channels: {
      botchat: {
        apiRoot: platform.url,
        dmPolicy: "open",
        allowFrom: ["*"],
        groupPolicy: "open",
        timeoutSeconds,
        ...spoilt,
        accounts: Object.fromEntries(
          settings.map((pair, index) => [
            accountOf(pair),
            { botToken: tokenOf(index), streamMode: pair.mode, textChunkLimit: pair.messageLimit },
          ]),
        ),
      },
    },
  });
  const { child } = await workshop.start("gateway-process.ts", [config]);
  const exit = once(child, "exit");
  let read = { at: Number.NEGATIVE_INFINITY, ends: new Map<number, End>() };

  return {
    platform,
    ends() {
      if (performance.now() - read.at < readEveryMs) return read.ends;
      const ends = new Map(readEnds(join(workshop.directory, "streams")).map((end) => [seedIn(end.body), end]));
      read = { at: performance.now(), ends };
      return ends;
    },
    isUp: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      const late = setTimeout(() => child.kill("SIGKILL"), stopMs);
      child.kill("SIGTERM");
      const [code, signal] = (await exit.finally(() => clearTimeout(late))) as [number | null, string | null];
      return code ?? signal ?? "unknown";
    },
    async close() {
      await model.close();
      await platform.close();
    },
  };
}
