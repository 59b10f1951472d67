/** `events drop`: ends the events that wait from and for a channel, such as one that never comes back. */
import { setTimeout as wait } from "node:timers/promises";
import { waitingFor } from "../../reports/waits.ts";
import { addDrop, removeDrop } from "../../state/drops.ts";
import type { Store } from "../../state/store.ts";
import type { CommandContext } from "../context.ts";
import { agrees } from "../output/agree.ts";

interface Options {
  readonly channel: string;
  readonly account?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const lookEveryMs = 100;
const patienceMs = 60_000;

export async function dropEvents(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  const { channel, account } = options;
  const { terminal } = context;
  const store = await context.openState();
  try {
    const place = { channel, account };
    const found = await waitingFor(store, place);
    const name = account === undefined ? channel : `${channel}:${account}`;
    const events = found.length === 1 ? "1 event" : `${found.length} events`;
    const print = (dropped: number, running: boolean, line: string) =>
      options.json === true ? terminal.json({ ...place, found: found.length, dropped, running }) : terminal.line(line);
    if (found.length === 0) {
      print(0, false, `Nothing waits for ${name}.`);
      return 0;
    }
    if (options.dryRun === true) {
      print(0, false, `${events} would end, as silent(dropped).`);
      return 0;
    }
    if (!(await agrees(`End ${events} that ${found.length === 1 ? "waits" : "wait"} from and for ${name}?`, options)))
      return 1;
    const drop = { ...place, at: context.now() };
    await addDrop(store, drop);
    const running = (await (await context.gateway())?.poke()) === true;
    if (!running) {
      print(0, false, `${events} will end when a gateway starts, even if ${name} is back by then.`);
      return 0;
    }
    const left = await untilEnded(store, { place, ids: new Set(found.map(({ id }) => id)), context });
    // Removed, so that an event which is retried later runs.
    if (left === 0) await removeDrop(store, drop);
    const still = left === 0 ? "" : ` ${left} are still to end: the gateway goes on with them.`;
    print(found.length - left, true, `${found.length - left} of ${events} have ended.${still}`);
    return 0;
  } finally {
    await store.close();
  }
}

/** Resolves with the number of events that have not ended yet. */
async function untilEnded(
  store: Store,
  {
    place,
    ids,
    context,
  }: {
    readonly place: { readonly channel: string };
    readonly ids: ReadonlySet<string>;
    readonly context: CommandContext;
  },
): Promise<number> {
  const until = context.now() + patienceMs;
  let reported = context.now();
  for (;;) {
    const left = (await waitingFor(store, place)).filter(({ id }) => ids.has(id)).length;
    if (left === 0 || context.now() > until) return left;
    if (context.now() - reported >= 1_000) {
      reported = context.now();
      context.terminal.note(`${ids.size - left} of ${ids.size} have ended ...`);
    }
    await wait(lookEveryMs);
  }
}
