/** An account of a channel, for the channel's own commands. */
import { join } from "node:path";
import { openAccountSecrets } from "../../channels/connection/account-secrets.ts";
import { renderProblem } from "../../config/problem.ts";
import { HostError } from "../../contract/errors.ts";
import type { ChannelDefinition, CliCall, PluginDefinition } from "../../sdk/contract.ts";
import { configuredAccounts } from "../accounts.ts";
import type { CommandContext } from "../context.ts";
import type { Declared } from "./declarations.ts";

type CliAccount = Awaited<ReturnType<CliCall["account"]>>;

export async function openAccount(
  context: CommandContext,
  {
    plugin,
    channel,
    id = "default",
  }: { readonly plugin: string; readonly channel: ChannelDefinition; readonly id: string | undefined },
): Promise<CliAccount> {
  const loaded = await context.load();
  // The other plugins need not be loaded for it.
  const declared: readonly Declared[] = [
    { id: plugin, bundled: false, state: "ready", definition: { channel } as PluginDefinition },
  ];
  const accounts = (await configuredAccounts(loaded, declared, context.env)).filter(
    (one) => one.channel === channel.id,
  );
  const account = accounts.find((one) => one.account === id);
  if (account === undefined) {
    const known = accounts.map((one) => one.account).join(", ");
    const which =
      known === "" ? `channels.${channel.id} is not configured` : `the accounts of ${channel.id} are ${known}`;
    throw new HostError("usage", { reason: `there is no account ${id}: ${which}` });
  }
  const { settings, path, state, problems } = account;
  if (settings === undefined) {
    const errors = problems.filter(({ severity }) => severity === "error").map((problem) => renderProblem(problem));
    const why = state === "off" ? `${path} is switched off` : errors.join(" ").replace(/\.$/, "");
    throw new HostError("usage", { reason: why === "" ? `${path} cannot be opened` : why });
  }
  const directory = join(await context.stateDirectory(), channel.id, id);
  const secrets = openAccountSecrets({ directory, plugin, remember() {} });
  return { id, path, options: settings.options, secrets };
}
