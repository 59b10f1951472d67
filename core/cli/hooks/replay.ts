/** `hooks replay`: runs a delivery again, unchanged or through the current version of its mapping. */
import { HostError, reasonOf } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import { type Delivery, deliveryFilter } from "../../reports/deliveries.ts";
import type { CommandContext } from "../context.ts";
import { type RetryOptions, retryAll } from "../events/retry.ts";
import { requireDelivery } from "./require-delivery.ts";

interface Options extends RetryOptions {
  /** All that failed, in place of one. */
  readonly failed?: boolean;
  readonly remap?: boolean;
}

interface Replayed {
  readonly replayed: string;
  /** The events that run now: the same event, or those that its mapping made from it. */
  readonly eventIds: readonly string[];
  /** The mapping that took it, if it went through a mapping again. */
  readonly mapping?: string;
  /** Whether a running gateway has started on it. */
  readonly running: boolean;
}

/** A transform may take long, and runs for each element of a list. */
const patienceMs = 330_000;

export async function replayDelivery(
  context: CommandContext,
  [wanted]: readonly [string?],
  options: Options,
): Promise<number> {
  if (options.failed === true) {
    if (wanted !== undefined)
      throw new HostError("usage", { reason: "name a delivery, or use --failed for all that failed, not both" });
    return await replayFailed(context, options);
  }
  if (wanted === undefined)
    throw new HostError("usage", { reason: "name the delivery by its id, or use --failed for all that failed" });
  const store = await context.openState();
  let replayed: Replayed;
  try {
    const found = await requireDelivery(store, wanted);
    const { report, stored } = found;
    if (report.state !== "settled") throw new HostError("delivery_running", { event: report.id });
    if (options.remap === true || stored.text === undefined) replayed = await mapAgain(context, found);
    else {
      if (!(await store.replay(report.id, context.now())))
        throw new HostError("delivery_running", { event: report.id });
      const running = (await (await context.gateway())?.poke()) === true;
      replayed = { replayed: report.id, eventIds: [report.id], running };
    }
  } finally {
    await store.close();
  }
  if (options.json === true) context.terminal.json(replayed);
  else printReplay(replayed, context);
  return 0;
}

/** One that cannot go through its mapping again is left, and named: the others must not wait for it. */
async function replayFailed(context: CommandContext, options: Options): Promise<number> {
  return await retryAll(context, options, {
    ...deliveryFilter,
    what: "failed delivery",
    async again(store, { id }) {
      const found = await requireDelivery(store, id);
      if (options.remap !== true && found.stored.text !== undefined) return await store.replay(id, context.now());
      try {
        await mapAgain(context, found);
        return true;
      } catch (error) {
        context.terminal.note(`${id}: ${reasonOf(error)}`);
        return false;
      }
    },
  });
}

/** Runs in the gateway, which has the plugins, the transforms and the secrets of the current configuration. */
async function mapAgain(context: CommandContext, { report, stored }: Delivery): Promise<Replayed> {
  if (stored.delivery === undefined) throw new HostError("delivery_unmapped", { event: report.id, hook: stored.hook });
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
  return { replayed: report.id, eventIds, running: true, mapping };
}

function printReplay({ replayed, eventIds, mapping, running }: Replayed, { terminal }: CommandContext): void {
  if (mapping === undefined) {
    terminal.line(running ? `${replayed} runs again.` : `${replayed} runs again when a gateway starts.`);
    return;
  }
  const through = `${replayed} went through the mapping ${visibleLine(mapping)} again`;
  if (eventIds.length === 0) terminal.line(`${through}, which needed no run.`);
  else terminal.line(`${through}: ${eventIds.join(", ")}.`);
}
