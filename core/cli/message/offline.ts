/** Actions while no gateway is running: messages are stored for the next one; read-only actions run here. */
import { settingPath } from "../../access/setting-path.ts";
import { type ActionResult, isRefusal } from "../../actions/result.ts";
import { createActionRunner } from "../../actions/run.ts";
import type { ActionName } from "../../actions/schema.ts";
import type { LiveAccount } from "../../channels/live-account.ts";
import { lookInto } from "../../channels/look.ts";
import { HostError } from "../../contract/errors.ts";
import type { Json } from "../../contract/types.ts";
import { createIds } from "../../state/ids.ts";
import { configuredAccounts } from "../accounts.ts";
import type { CommandContext } from "../context.ts";
import { readDeclarations } from "../plugins/declarations.ts";

/** The message is in the state, and is sent when a gateway runs. */
export interface Stored {
  readonly ok: true;
  readonly stored: true;
  readonly eventId: string;
}

type Arguments = { readonly [name: string]: Json };

export async function runWithoutGateway(
  action: ActionName,
  args: Arguments,
  { context, dryRun }: { readonly context: CommandContext; readonly dryRun: boolean },
): Promise<ActionResult | Stored> {
  const loaded = await context.load();
  const stateDirectory = await context.stateDirectory();
  if (action !== "send" && action !== "sticker-search" && !dryRun)
    throw new HostError("gateway_not_running", { directory: stateDirectory });
  const accounts = await configuredAccounts(
    loaded,
    await readDeclarations(loaded, stateDirectory, context.terminal),
    context.env,
  );
  const { channel, account } = args;
  const found = accounts.find((one) => one.channel === channel && (account === undefined || one.account === account));
  if (found?.settings === undefined) {
    const problem = found?.problems.find(({ severity }) => severity === "error");
    const reason = problem === undefined ? "it is not configured, or is off" : `${problem.path}: ${problem.message}`;
    throw new HostError("usage", {
      reason: `the account ${String(account ?? "default")} of ${String(channel)} cannot be used: ${reason}`,
    });
  }
  const newId = createIds(context.now);
  const options = { stateDirectory, now: context.now, newId };
  return await lookInto(found.settings, options, (live) =>
    act(action, args, { context, dryRun, live, newId, sections: loaded.config.channels }),
  );
}

async function act(
  action: ActionName,
  args: Arguments,
  parts: {
    readonly context: CommandContext;
    readonly dryRun: boolean;
    readonly live: LiveAccount;
    readonly newId: () => string;
    readonly sections: Readonly<Record<string, unknown>>;
  },
): Promise<ActionResult | Stored> {
  const { context, dryRun, live, newId, sections } = parts;
  let stored: string | undefined;
  const runner = createActionRunner({
    account: (channel, account) => (channel === live.channel && account === live.id ? live : undefined),
    accountsOf: (channel) => (channel === live.channel ? [live] : []),
    pathsOf: ({ channel, account }) => settingPath(sections[channel], channel, account),
    isPaired: async () => false,
    async receive(event) {
      const store = await context.openState();
      try {
        const accepted = await store.accept({ id: newId(), at: context.now(), event });
        stored = accepted.eventId;
        return accepted;
      } finally {
        await store.close();
      }
    },
    // No gateway is running that could end the event.
    ends: { wait: async () => undefined },
    event: async () => null,
    sentBy: async () => [],
    random: () => 0,
  });
  const result = await runner.run(action, args, { by: "operator", dryRun });
  return isRefusal(result) && stored !== undefined ? { ok: true, stored: true, eventId: stored } : result;
}
