/**
 * Checks what the host itself understands in `channels`: access options and account ids. Channel plugins check the
 * rest.
 */

import { renderPath, type Segment } from "../path.ts";
import { accessSchema } from "../schema/channels.ts";
import { nodeOf } from "../schema-node.ts";
import { type ChannelAccountSection, channelAccounts, normalizeAccountId } from "./merge.ts";
import { checkValue, isRecord, type PlacedProblem } from "./validate.ts";

const channelId = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function checkChannels(channels: Readonly<Record<string, unknown>>): readonly PlacedProblem[] {
  return Object.entries(channels).flatMap(([id, section]) => checkChannel(["channels", id], id, section));
}

function checkChannel(at: readonly Segment[], id: string, section: unknown): readonly PlacedProblem[] {
  if (!channelId.test(id)) return [error(at, "is not a channel id: a-z, 0-9, _ and -, at most 64 characters")];
  if (!isRecord(section)) return [];
  const { accounts, ...root } = section;
  const problems = [...checkAccess(root, at)];
  if (accounts !== undefined && !isRecord(accounts))
    return [...problems, error([...at, "accounts"], "must be an object of accounts")];
  const ids = new Map<string, string>();
  for (const [name, own] of Object.entries(accounts ?? {})) {
    problems.push(...checkAccount([...at, "accounts", name], name, own, ids));
  }
  return [...problems, ...channelAccounts(section).flatMap((account) => checkOpen(at, account))];
}

// Defaults are ignored here, because they apply after merging. Keys that the host does not know belong to the channel
// plugin.
function checkAccess(value: unknown, at: readonly Segment[]): readonly PlacedProblem[] {
  return checkValue(nodeOf(accessSchema), value, at, { unknownKeys: "keep" }).problems;
}

function checkAccount(
  at: readonly Segment[],
  name: string,
  own: unknown,
  ids: Map<string, string>,
): readonly PlacedProblem[] {
  const id = normalizeAccountId(name);
  if (id === undefined) return [error(at, "is not an account id: a-z, 0-9, _ and -, at most 64 characters")];
  const same = ids.get(id);
  if (same !== undefined) return [error(at, `is the same account as ${same}: case is ignored`)];
  ids.set(id, name);
  if (!isRecord(own)) return [error(at, "must be an object")];
  return checkAccess(own, at);
}

export function checkOpen(
  at: readonly Segment[],
  { id, key, raw, own }: ChannelAccountSection,
): readonly PlacedProblem[] {
  const everybody = Array.isArray(raw.allowFrom) && raw.allowFrom.includes("*");
  const wrongType = raw.allowFrom !== undefined && !Array.isArray(raw.allowFrom);
  if (raw.dmPolicy !== "open" || everybody || wrongType) return [];
  const account = key === undefined ? undefined : [...at, "accounts", key];
  const placeOf = (name: string) => [...(account !== undefined && own[name] !== undefined ? account : at), name];
  const where = account === undefined ? "" : ` for the account ${id}`;
  return [
    {
      ...error(placeOf("dmPolicy"), `is "open"${where}, but allowFrom does not contain "*"`),
      hint: `Add "*" to ${renderPath(placeOf("allowFrom"))}, or choose another policy.`,
      // An inherited option is set at the root but is wrong only for this account.
      ...(account === undefined ? {} : { section: renderPath(account) }),
    },
  ];
}

function error(at: readonly Segment[], message: string): PlacedProblem {
  return { severity: "error", at, path: renderPath(at), message };
}
