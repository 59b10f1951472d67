/**
 * What waited while a bot was away: ten thousand updates of 500 chats, processed by the published program and by
 * grammY's runner.
 */
import { setStage } from "./chat.ts";
import { build } from "./package.ts";
import { inWorkshop, residentMb } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, spread } from "./report.ts";

const chats = 500;
const messages = 20;
const bots = ["ours", "bare", "runner"] as const;
/** After the program has released the memory of its start. */
const restMs = 10_000;
const weighEveryMs = 250;

/** The highest memory use of a process while `work` ran, and the work's result. */
async function weighed<Found>(
  pid: number,
  work: () => Promise<Found>,
): Promise<{ readonly most: number; readonly found: Found }> {
  let most = residentMb(pid);
  const weigh = () => {
    most = Math.max(most, residentMb(pid));
  };
  const timer = setInterval(weigh, weighEveryMs);
  try {
    const found = await work();
    weigh();
    return { most, found };
  } finally {
    clearInterval(timer);
  }
}

export const backlog: Bench = {
  name: "backlog",
  summary: "10,000 updates that wait in 500 chats, against the bare runner, and against it over undici",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const main = build(workshop);
      const { measure, gateway } = await setStage(workshop, {
        modes: ["bare", "runner"],
        startGateway: async (config) => workshop.startFile(main, ["gateway", "--config", config]),
      });
      const pid = gateway.pid ?? 0;
      const rate = async (bot: (typeof bots)[number]) => {
        const [ms = Number.NaN] = await measure({
          what: "backlog",
          bot: `${bot}_bot`,
          chats,
          messages,
          anyOrder: bot === "bare",
        });
        return (chats * messages * 1_000) / ms;
      };
      for (const bot of bots) await measure({ what: "roundtrip", bot: `${bot}_bot`, count: 3 });
      await new Promise((resolve) => setTimeout(resolve, restMs));
      const idle = residentMb(pid);
      const peaks: number[] = [];
      const rates = { ours: [] as number[], bare: [] as number[], runner: [] as number[] };
      for (let round = -1; round < rounds; round += 1) {
        for (const bot of round % 2 === 0 ? bots : [...bots].reverse()) {
          const { most, found } = await weighed(pid, () => rate(bot));
          if (bot === "ours") peaks.push(most);
          // In the first round neither program is compiled yet.
          if (round >= 0) rates[bot].push(found);
        }
      }
      const held = (reference: "bare" | "runner") => {
        const ratios = paired(rates.ours, rates[reference]);
        return { reference: spread(rates[reference], 0), measure: `ratio ${spread(ratios, 2)}`, ratio: median(ratios) };
      };
      const [bare, runner] = [held("bare"), held("runner")];
      const added = peaks.map((peak) => peak - idle);
      return [
        {
          name: "backlog",
          figure:
            `answers a second, ${chats * messages} updates that wait in ${chats} chats; reference: ` +
            "the bare runner",
          ours: spread(rates.ours, 0),
          reference: bare.reference,
          measure: bare.measure,
          ...atLeast(bare.ratio, 0.5),
        },
        {
          name: "backlog",
          figure: "the same; reference: runner, sequentialize, undici",
          ours: spread(rates.ours, 0),
          reference: runner.reference,
          measure: runner.measure,
        },
        {
          name: "backlog",
          figure: "MB resident at most while they are handled; reference: the same process at rest",
          ours: spread(peaks, 0),
          reference: idle.toFixed(0),
          measure: `added ${spread(added, 0)} MB`,
          ...atMost(Math.max(...added), 60, " MB"),
        },
      ];
    }),
};
