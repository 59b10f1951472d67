/** `hooks replay`: a delivery runs again, as it was or through its mapping as that is now. */
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CommandContext } from "../context.ts";
import { type FoundDelivery, findDelivery } from "./delivery-text.ts";

interface Options {
  readonly remap?: boolean;
  readonly json?: boolean;
}

interface Replayed {
  readonly replayed: string;
  /** What runs now: the same event, or those that its mapping made of it. */
  readonly eventIds: readonly string[];
  /** The mapping that took it, when it went through one again. */
  readonly mapping?: string;
  /** Whether a running gateway has taken it up. */
  readonly running: boolean;
}

/** A transform may take its time, for each element of a list. */
const patienceMs = 330_000;

export async function replayDelivery(context: CommandContext, [wanted]: readonly [string], options: Options): Promise<number> {
  const store = await context.openState();
  let replayed: Replayed;
  try {
    const found = await findDelivery(store, wanted);
    const { report, kept } = found;
    if (report.state !== "settled") throw new HostError("delivery_running", { event: report.id });
    if (options.remap === true || kept.text === undefined) replayed = await mapAgain(context, found);
    else {
      if (!(await store.replay(report.id, context.now()))) throw new HostError("delivery_running", { event: report.id });
      const running = (await (await context.gateway())?.poke()) === true;
      replayed = { replayed: report.id, eventIds: [report.id], running };
    }
  } finally {
    await store.close();
  }
  if (options.json === true) context.terminal.json(replayed);
  else tell(replayed, context);
  return 0;
}

/** In the running gateway, which has the plugins, the transforms and the secrets of today's configuration. */
async function mapAgain(context: CommandContext, { report, kept }: FoundDelivery): Promise<Replayed> {
  if (kept.delivery === undefined) throw new HostError("delivery_unmapped", { event: report.id, hook: kept.hook });
  const gateway = await context.gateway();
  if (gateway === null) throw new HostError("gateway_not_running", { directory: await context.stateDirectory() });
  const answer = await gateway.call("POST", "/gateway/hooks/replay", { body: { eventId: report.id }, patienceMs });
  if (answer === null) throw new HostError("gateway_silent", { url: gateway.url, reason: "it did not answer in time" });
  const {
    eventIds = [],
    mapping,
    error = "",
    path,
    hint = "",
  } = answer.body as Partial<Replayed> & {
    readonly error?: string;
    readonly path?: string;
    readonly hint?: string;
  };
  if (!answer.ok) {
    const fix = path === undefined ? hint : `Decided by ${path}. ${hint}`;
    throw new HostError("delivery_not_mapped", { event: report.id, reason: error.replace(/\.$/, ""), fix: fix.trim() });
  }
  return { replayed: report.id, eventIds, running: true, ...(mapping === undefined ? {} : { mapping }) };
}

function tell({ replayed, eventIds, mapping, running }: Replayed, { terminal }: CommandContext): void {
  if (mapping === undefined) {
    terminal.line(running ? `${replayed} runs again.` : `${replayed} runs again when a gateway runs.`);
    return;
  }
  const through = `${replayed} went through the mapping ${visibleLine(mapping)} again`;
  if (eventIds.length === 0) terminal.line(`${through}, which has nothing to do with it.`);
  else terminal.line(`${through}: ${eventIds.join(", ")}.`);
}
