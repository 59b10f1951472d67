/** The path of a chat message: our channel and path against bare grammY, on one emulated platform. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { ChatTask } from "../chat-platform.ts";
import { inWorkshop, type Workshop } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, spread } from "./report.ts";

interface Stage {
  readonly platform: ChildProcess;
  readonly gateway: ChildProcess;
  measure(task: ChatTask): Promise<readonly number[]>;
}

const bots = ["ours", "start", "bare", "runner"] as const;

/** The limits of a private platform. */
const noLimits = { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 };

export async function setStage(
  workshop: Workshop,
  {
    modes = [],
    limits = noLimits,
    startGateway = async (config: string) => (await workshop.start("gateway-process.ts", [config])).child,
  }: {
    readonly modes?: readonly ("start" | "bare" | "runner")[];
    /** The channel's option; `{}` gives the limits of the real platform. */
    readonly limits?: object;
    readonly startGateway?: (config: string) => Promise<ChildProcess>;
  },
): Promise<Stage> {
  const { child: platform, first } = await workshop.talk<{ readonly url: string; readonly tokens: readonly string[] }>(
    "chat-platform.ts",
    [...bots.map((name) => `${name}_bot`)],
  );
  const tokenOf = (name: (typeof bots)[number]) => first.tokens[bots.indexOf(name)] ?? "";
  const gateway = await startGateway(
    workshop.config("chat", {
      session: { dmScope: "per-account-channel-peer" },
      messages: { ackReactionScope: "off" },
      agents: { defaults: { maxConcurrent: 512, heartbeat: { every: "0" } } },
      channels: {
        botchat: {
          botToken: tokenOf("ours"),
          apiRoot: first.url,
          dmPolicy: "open",
          allowFrom: ["*"],
          streamMode: "off",
          limits,
        },
      },
      plugins: { entries: { echo: { options: { delayMs: 0 } } } },
    }),
  );
  for (const mode of modes) await workshop.start("grammy-bot.ts", [first.url, tokenOf(mode), mode]);
  return {
    platform,
    gateway,
    async measure(task) {
      platform.send(task);
      const [answer] = (await once(platform, "message")) as [
        { readonly times?: readonly number[]; readonly error?: string },
      ];
      if (answer.times === undefined) throw new Error(`${task.bot}: ${answer.error}`);
      return answer.times;
    },
  };
}

export const roundtrip: Bench = {
  name: "roundtrip",
  summary: "one direct message and its echo, against bare grammY",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const { measure } = await setStage(workshop, { modes: ["start"] });
      const trip = (bot: string, count: number) => measure({ what: "roundtrip", bot: `${bot}_bot`, count });
      for (const bot of ["ours", "start"]) await trip(bot, 200);
      const ours: number[] = [];
      const reference: number[] = [];
      for (let round = 0; round < rounds * 2; round += 1) {
        reference.push(median(await trip("start", 60)));
        ours.push(median(await trip("ours", 60)));
      }
      const added = ours.map((value, index) => value - (reference[index] ?? Number.NaN));
      return [
        {
          name: "roundtrip",
          figure: "median ms from the update to its answer; reference: bot.start",
          ours: spread(ours, 2),
          reference: spread(reference, 2),
          measure: `added ${spread(added, 2)} ms`,
          ...atMost(median(added), 3, " ms"),
        },
      ];
    }),
};

export const throughput: Bench = {
  name: "throughput",
  summary: "500 chats that write at once, against bot.start and against the runner over undici",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const { measure } = await setStage(workshop, { modes: ["start", "runner"] });
      const chats = 500;
      const rate = async (bot: string, messages: number) => {
        const [ms = Number.NaN] = await measure({ what: "throughput", bot: `${bot}_bot`, chats, messages });
        return (chats * messages * 1_000) / ms;
      };
      const contenders = ["ours", "start", "runner"] as const;
      const rates = { ours: [] as number[], start: [] as number[], runner: [] as number[] };
      for (const bot of contenders) await rate(bot, 4);
      for (let round = 0; round < rounds; round += 1) {
        const order = round % 2 === 0 ? contenders : [...contenders].reverse();
        for (const bot of order) rates[bot].push(await rate(bot, 6));
      }
      return (["start", "runner"] as const).map((reference) => {
        const ratios = paired(rates.ours, rates[reference]);
        return {
          name: "throughput",
          figure:
            `answers a second, ${chats} chats; reference: ` +
            `${reference === "start" ? "bot.start, default client" : "runner, sequentialize, undici"}`,
          ours: spread(rates.ours, 0),
          reference: spread(rates[reference], 0),
          measure: `ratio ${spread(ratios, 2)}`,
          ...atLeast(median(ratios), reference === "start" ? 1 : 0.4),
        };
      });
    }),
};
