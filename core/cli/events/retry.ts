/** `events retry`: runs many failed events again, messages of chats too. */
import { findFailed, runAgain } from "../../reports/failed.ts";
import type { EventReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";
import type { CommandContext } from "../context.ts";
import { agrees } from "../output/agree.ts";
import { parseSince } from "../output/times.ts";

export interface RetryOptions {
  readonly code?: string;
  readonly since?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** More events are run by another call of the command. */
const mostAtOnce = 10_000;
const progressEveryMs = 1_000;

export async function retryEvents(
  context: CommandContext,
  _: readonly [],
  options: RetryOptions & { readonly channel?: string },
) {
  return await retryAll(context, options, {
    source: options.channel,
    what: "failed event",
    again: (store, { id }) => store.replay(id, context.now()),
  });
}

/**
 * Runs each event that failed and matches again. Pressed twice, the second call finds those that run, and leaves them.
 */
export async function retryAll(
  context: CommandContext,
  { code, since, yes, dryRun, json }: RetryOptions,
  kind: {
    readonly source?: string;
    readonly exceptKind?: string;
    /** One of them, in words. */
    readonly what: string;
    /** Resolves with false if it runs already. */
    readonly again: (store: Store, event: EventReport) => Promise<boolean>;
  },
): Promise<number> {
  const { terminal } = context;
  const store = await context.openState();
  try {
    const failed = await findFailed(store, {
      ...{ code, limit: mostAtOnce },
      ...(since === undefined ? {} : { since: parseSince(since, context.now()) }),
      ...(kind.source === undefined ? {} : { source: kind.source }),
      ...(kind.exceptKind === undefined ? {} : { exceptKind: kind.exceptKind }),
    });
    const count = (number: number) => (number === 1 ? `1 ${kind.what}` : `${number} ${kind.what.replace(/y$/, "ie")}s`);
    const reasons = Object.fromEntries(
      [...Map.groupBy(failed, ({ reason = "" }) => reason)].map(([reason, all]) => [reason, all.length]),
    );
    const listed = Object.entries(reasons).map(([reason, number]) => `${number} ${reason}`);
    const print = (retried: readonly string[], running: boolean, lines: readonly string[]) => {
      if (json === true) terminal.json({ found: failed.length, reasons, retried, running });
      else for (const line of lines) terminal.line(line);
    };
    if (failed.length === 0) {
      print([], false, [`There is no ${kind.what} that matches.`]);
      return 0;
    }
    if (dryRun === true) {
      print([], false, [`${count(failed.length)} would run again: ${listed.join(", ")}.`]);
      return 0;
    }
    if (json !== true && yes !== true) terminal.note(`${count(failed.length)}: ${listed.join(", ")}.`);
    if (!(await agrees(`Run ${count(failed.length)} again?`, { ...(yes && { yes }), ...(json && { json }) }))) return 1;
    const retried: string[] = [];
    let reportedAt = context.now();
    for (const event of failed) {
      if (await runAgain(store, event, kind.again)) retried.push(event.id);
      if (context.now() - reportedAt < progressEveryMs) continue;
      reportedAt = context.now();
      terminal.note(`${retried.length} of ${failed.length} ...`);
    }
    const running = (await (await context.gateway())?.poke()) === true;
    const skipped = failed.length - retried.length;
    print(retried, running, [
      `${count(retried.length)} ${retried.length === 1 ? "runs" : "run"} ` +
        `again${running ? "" : " when a gateway starts"}.`,
      ...(skipped === 0 ? [] : [`${skipped} had been run again by another call, or cannot be.`]),
    ]);
    return 0;
  } finally {
    await store.close();
  }
}
