/**
 * `hooks deliveries` and `hooks challenges`: received deliveries and their results; values in tests of an address, for
 * a person to copy.
 */

import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import { outcomeStyles } from "../../reports/decisions.ts";
import { type Delivery, deliveryData, readDeliveries } from "../../reports/deliveries.ts";
import type { EventReport } from "../../state/report.ts";
import { type RefusedHook, readRefusals } from "../../webhooks/endpoint/refusals.ts";
import { readShownChallenges } from "../../webhooks/endpoint/shown-challenges.ts";
import type { CommandContext } from "../context.ts";
import { renderAgo, renderClock, renderDuration } from "../output/times.ts";

interface Options {
  readonly failed?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

const mostAtOnce = 1_000;

export async function listDeliveries(context: CommandContext, _: readonly [], options: Options): Promise<number> {
  if (options.limit < 1 || options.limit > mostAtOnce)
    throw new HostError("usage", { reason: `--limit must be from 1 to ${mostAtOnce}` });
  const store = await context.openState();
  try {
    const deliveries = await readDeliveries(store, options);
    // Requests that never became events: the sender was refused, or the content was not understood.
    const all = await readRefusals(store);
    const refused = options.failed === true ? all.slice(-options.limit) : [];
    const challenges = await readShownChallenges(store, context.now());
    if (options.json === true)
      context.terminal.json({
        deliveries: deliveries.map(deliveryData),
        ...(options.failed === true ? { refused } : {}),
      });
    else show(deliveries, { shown: refused, count: all.length, last: all.at(-1) }, { context, options });
    if (options.json !== true && challenges.length > 0) {
      const hooks = [...new Set(challenges.map(({ hook }) => visibleLine(hook, 40)))].join(", ");
      context.terminal.line(
        `Tests of ${hooks} contain values to copy: \`${programCommand} hooks challenges\` shows them.`,
      );
    }
    return 0;
  } finally {
    await store.close();
  }
}

function show(
  deliveries: readonly Delivery[],
  {
    shown,
    count,
    last,
  }: { readonly shown: readonly RefusedHook[]; readonly count: number; readonly last: RefusedHook | undefined },
  { context: { terminal, now }, options }: { readonly context: CommandContext; readonly options: Options },
): void {
  const { style } = terminal;
  if (deliveries.length > 0) {
    terminal.table([
      ["when", "delivery", "hook", "end", "took", "attempts"].map((cell) => style("dim", cell)),
      ...deliveries.map(({ report, stored, repeated }) => [
        renderClock(report.acceptedAt),
        report.id,
        visibleLine(stored.hook, 40),
        endOf(report, style) + (repeated === undefined ? "" : style("dim", `, came ${repeated.count} more`)),
        report.settledAt === undefined ? "" : renderDuration(report.settledAt - report.acceptedAt),
        String(report.attempts),
      ]),
    ]);
  } else if (options.failed !== true) terminal.line("No webhook has been accepted yet.");
  else
    terminal.line(
      count === 0 ? "No request was refused, and no delivery failed." : "No accepted delivery was refused or failed.",
    );
  if (shown.length > 0) {
    terminal.line();
    terminal.line(style("bold", "Refused on arrival"));
    terminal.table([
      ["when", "hook", "from", "refused with"].map((cell) => style("dim", cell)),
      ...shown
        .toReversed()
        .map((one) => [
          renderClock(one.at),
          one.subPath === "" ? "" : visibleLine(one.subPath, 40),
          one.client,
          `${style("red", `${one.status} ${one.code}`)} ${style("dim", visibleLine(one.detail, 200))}`,
        ]),
    ]);
    if (count > shown.length) terminal.line(style("dim", `${count} are stored; --limit shows more.`));
  } else if (last !== undefined) {
    const requests = count === 1 ? "1 request was" : `${count} requests were`;
    const when = `${count === 1 ? "" : "the last one "}${renderAgo(last.at, now())}`;
    terminal.line(
      style(
        "dim",
        `${requests} refused on arrival, ${when}; \`${programCommand} hooks deliveries --failed\` lists them.`,
      ),
    );
  }
}

function endOf({ state, outcome, reason }: EventReport, style: CommandContext["terminal"]["style"]): string {
  if (outcome === undefined) return style("cyan", state);
  return style(outcomeStyles[outcome], outcome) + (reason === outcome ? "" : style("dim", ` (${reason})`));
}

const unsure = "Anyone could have sent this. Use it only if you started the test at that moment.";

export async function listChallenges(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  const store = await context.openState();
  try {
    const { terminal, now } = context;
    const challenges = await readShownChallenges(store, now());
    if (options.json === true) terminal.json({ challenges });
    else if (challenges.length === 0) terminal.line("In the last hour, no platform has sent a value to copy.");
    else {
      for (const { at, hook, client, verified, value } of challenges) {
        terminal.line(
          `${terminal.style("bold", visibleLine(hook))}, ${renderAgo(at, now())} from ${visibleLine(client)}`,
        );
        terminal.line(`  ${visibleLine(value)}`);
        if (!verified) terminal.line(terminal.style("dim", `  ${unsure}`));
      }
    }
    return 0;
  } finally {
    await store.close();
  }
}
