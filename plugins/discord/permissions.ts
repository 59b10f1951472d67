/** What the bot may do in a channel of a server. See https://discord.com/developers/docs/topics/permissions. */
import { type Fields, id, list, records, text } from "./fields.ts";

/** What the channel uses, in the words of the platform's settings. */
const needed: readonly (readonly [name: string, bit: bigint])[] = [
  ["View Channel", 1n << 10n],
  ["Send Messages", 1n << 11n],
  ["Embed Links", 1n << 14n],
  ["Attach Files", 1n << 15n],
  ["Read Message History", 1n << 16n],
  ["Add Reactions", 1n << 6n],
  ["Send Messages in Threads", 1n << 38n],
];
const administrator = 1n << 3n;

/** The number that an invitation of the bot asks for. */
export const invitedPermissions = String(needed.reduce((sum, [, bit]) => sum | bit, 0n));

const bits = (value: unknown): bigint => (/^\d{1,25}$/.test(text(value) ?? "") ? BigInt(text(value) ?? "0") : 0n);

/** The names of what the bot lacks in a channel. */
export function missingPermissions({
  bot,
  guild,
  channel,
  member,
}: {
  readonly bot: string;
  /** With `owner_id` and `roles`. */
  readonly guild: Fields;
  /** With `permission_overwrites`. */
  readonly channel: Fields;
  /** The bot's own, with `roles`. */
  readonly member: Fields;
}): readonly string[] {
  if (guild.owner_id === bot) return [];
  const everyone = id(guild.id) ?? "";
  const own = new Set([everyone, ...list(member.roles).flatMap((role) => id(role) ?? [])]);
  let allowed = records(guild.roles).reduce(
    (sum, role) => (own.has(id(role.id) ?? "") ? sum | bits(role.permissions) : sum),
    0n,
  );
  if ((allowed & administrator) !== 0n) return [];
  const overwrites = records(channel.permission_overwrites);
  // Those of everyone, then of all roles together, then of the bot itself.
  for (const group of [[everyone], [...own].filter((role) => role !== everyone), [bot]]) {
    const found = overwrites.filter((each) => group.includes(id(each.id) ?? ""));
    for (const { deny } of found) allowed &= ~bits(deny);
    for (const { allow } of found) allowed |= bits(allow);
  }
  return needed.flatMap(([name, bit]) => ((allowed & bit) === 0n ? [name] : []));
}
