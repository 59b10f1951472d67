/** Changes of an account that need no new connection: its options, who may write to it, its menu. */
import { isDeepStrictEqual } from "node:util";
import { reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { AccountSettings } from "./account-settings.ts";
import type { OpenAccount, OpenAccountOptions } from "./open-account.ts";

/** The new settings apply from the next event on. */
export function retainAccount(
  account: OpenAccount,
  { access, identity, capabilities, options: values }: AccountSettings,
  log: Log,
): void {
  account.access = access;
  account.identity = identity;
  account.capabilities = capabilities;
  if (isDeepStrictEqual(account.options, values)) return;
  account.options = values;
  try {
    account.connection.update?.(values);
  } catch (error) {
    const { channel, id, plugin } = account.live;
    log.error({ channel, account: id, plugin, error: reasonOf(error) }, "new options were rejected");
  }
}

/** An account registers its menu itself when it connects; it is informed about later changes of the commands. */
export function updateMenu(
  account: OpenAccount,
  { log, commands: commandsOf }: { readonly log: Log; readonly commands: OpenAccountOptions["commands"] },
): void {
  const { channel, id, plugin, capabilities } = account.live;
  const commands = commandsOf(channel);
  const menu = JSON.stringify(commands);
  if (account.menu === undefined || !capabilities.menu || menu === account.menu) return;
  account.menu = menu;
  account.connection.menu?.(commands).catch((error: unknown) => {
    log.warn(
      { channel, account: id, plugin, error: reasonOf(error) },
      "the menu could not be updated after a configuration change",
    );
  });
}
