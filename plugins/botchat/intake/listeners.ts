/** Checks accounts that receive updates by webhook: each needs a listening address of its own. */
import type { AccountSurroundings, OptionProblem } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";

type ListenOptions = Pick<AccountOptions, "webhookUrl" | "webhookHost" | "webhookPort">;

/** Addresses that stand for every address of the machine. */
export const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function addressOf({
  webhookUrl,
  webhookHost,
  webhookPort,
}: ListenOptions): { readonly host: string; readonly port: number } | undefined {
  // Port 0 selects any free port.
  if (webhookUrl === undefined || webhookPort === 0) return undefined;
  return { host: webhookHost === "localhost" ? "127.0.0.1" : webhookHost, port: webhookPort };
}

/** Paths do not matter: a listener needs its port for itself. */
export function checkListeners(
  options: ListenOptions,
  { path, before }: AccountSurroundings<ListenOptions>,
): readonly OptionProblem[] {
  const mine = addressOf(options);
  const other = before.find((account) => {
    const its = addressOf(account.options);
    if (mine === undefined || its?.port !== mine.port) return false;
    return its.host === mine.host || everywhere.has(its.host) || everywhere.has(mine.host);
  });
  if (mine === undefined || other === undefined) return [];
  const message = `is ${mine.port}, and ${other.path} listens there already`;
  return [
    { option: "webhookPort", message, hint: `Set ${path}.webhookPort to a port of its own, even if the paths differ.` },
  ];
}
