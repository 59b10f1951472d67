/**
 * Finds where an account's option is set: in the account's own entry, or at the channel's root, which every account
 * inherits.
 */
import { accountEntry, getPath, renderPath } from "../config/index.ts";
import type { PathOf } from "./place.ts";

/** Returns a function that finds the path of an option. An option that is not set is reported at the account itself. */
export function settingPath(section: unknown, channel: string, accountId: string): PathOf {
  const root = ["channels", channel];
  return (keys) => {
    const entry = accountEntry(section, accountId);
    const inherited =
      entry === undefined || (getPath(entry.own, keys) === undefined && getPath(section, keys) !== undefined);
    return renderPath(inherited ? [...root, ...keys] : [...root, "accounts", entry.key, ...keys]);
  };
}
