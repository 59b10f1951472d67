/** Replies that wait for the platform's rate limits: how fast they are sent, and what that costs the process. */
import { setTimeout as sleep } from "node:timers/promises";
import { setStage } from "./chat.ts";
import { inWorkshop, processorSeconds } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, spread } from "./report.ts";

/** A thousand people each write this many messages. */
const people = 1_000;
const messages = 10;
/** Longer than all of them need at the allowed rate. */
const wholeWithinMs = 10 * 60_000;
const seconds = 15;
const allowed = 30;
const bot = "ours_bot";

/** Waits until the process does only what the rate limits allow: as busy as in the last three checks. */
async function settled(pid: number): Promise<void> {
  let calm = 0;
  for (let before = processorSeconds(pid); calm < 3; ) {
    await sleep(1_000);
    const now = processorSeconds(pid);
    calm = now - before < 0.5 ? calm + 1 : 0;
    before = now;
  }
}

/** From the first update to the last reply. */
const whole = () =>
  inWorkshop(async (workshop) => {
    const { measure, gateway } = await setStage(workshop, { limits: {} });
    const pid = gateway.pid ?? 0;
    const all = people * messages;
    const began = { used: processorSeconds(pid), at: performance.now() };
    await measure({ what: "write", bot, messages });
    for (let sent = 0; sent < all; ) {
      await sleep(1_000);
      [sent = Number.NaN] = await measure({ what: "count", bot });
      if (performance.now() - began.at > wholeWithinMs)
        throw new Error(`${sent} of ${all} answers went out within ten minutes`);
    }
    const elapsed = (performance.now() - began.at) / 1_000;
    const share = (100 * (processorSeconds(pid) - began.used)) / elapsed;
    // A duplicate may arrive after the others.
    await sleep(5_000);
    const [once = Number.NaN, often = Number.NaN] = await measure({ what: "answered", bot });
    const rate = all / elapsed;
    return [
      {
        name: "outbox",
        figure: `answers that came once, of ${all}`,
        ours: String(once),
        reference: String(all),
        measure: `${all - once - often} are missing, ${often} came more than once`,
        ...atLeast(once, all),
      },
      {
        name: "outbox",
        figure: `answers a second, all of them in ${elapsed.toFixed(0)} s; reference: what the platform allows`,
        ours: rate.toFixed(1),
        reference: String(allowed),
        measure: `ratio ${(rate / allowed).toFixed(2)}`,
        ...atLeast(rate / allowed, 0.9),
      },
      {
        name: "outbox",
        figure: "per cent of a core that this takes, the turns included; reference: a core",
        ours: share.toFixed(1),
        reference: "100",
        measure: `${share.toFixed(1)} %`,
        ...atMost(share, 20, " %"),
      },
    ];
  });

export const outbox: Bench = {
  name: "outbox",
  summary: "10,000 answers at the rate that the platform allows",
  whole,
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const { measure, gateway } = await setStage(workshop, { limits: {} });
      const pid = gateway.pid ?? 0;
      const sent = async () => (await measure({ what: "count", bot }))[0] ?? Number.NaN;
      await measure({ what: "write", bot, messages });
      await settled(pid);
      const rates: number[] = [];
      const shares: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const before = { sent: await sent(), used: processorSeconds(pid), at: performance.now() };
        await sleep(seconds * 1_000);
        const elapsed = (performance.now() - before.at) / 1_000;
        shares.push((100 * (processorSeconds(pid) - before.used)) / elapsed);
        rates.push(((await sent()) - before.sent) / elapsed);
      }
      const reference = rates.map(() => allowed);
      const ratios = paired(rates, reference);
      return [
        {
          name: "outbox",
          figure: "answers a second, 10,000 that wait; reference: what the platform allows",
          ours: spread(rates, 1),
          reference: String(allowed),
          measure: `ratio ${spread(ratios, 2)}`,
          ...atLeast(median(ratios), 0.9),
        },
        {
          name: "outbox",
          figure: "per cent of a core that this takes; reference: a core",
          ours: spread(shares, 1),
          reference: "100",
          measure: `${spread(shares, 1)} %`,
          ...atMost(median(shares), 20, " %"),
        },
      ];
    }),
};
