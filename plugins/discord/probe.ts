/** Asks the platform about the bot: who it is, which switches are off, and where it may write. It changes nothing. */
import { ChannelError, type ChannelMembership, type ChannelProbe } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { codes } from "./codes.ts";
import { type Fields, id, list, number, record, records, text } from "./fields.ts";
import { isSnowflake } from "./snowflake.ts";

/** Of an application: the intent is approved, or granted to a bot in few servers. */
const contentFlags = (1 << 18) | (1 << 19);

type Finding = NonNullable<ChannelProbe["findings"]>[number];

/** Whether the bot may read messages that do not mention it. If the platform does not say, it is asked for. */
export const readsContent = (application: Fields): boolean =>
  ((number(application.flags) ?? contentFlags) & contentFlags) !== 0;

export const identityOf = (user: Fields) => {
  const [bot, username, name] = [id(user.id), text(user.username), text(user.global_name)];
  if (bot === undefined)
    throw new ChannelError("bad_answer", { retryable: true, detail: "Discord did not say who the bot is" });
  return { id: bot, ...(username !== undefined && { username }), ...(name !== undefined && { name }) };
};

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
const invitedPermissions = String(needed.reduce((sum, [, bit]) => sum | bit, 0n));

const invitation = (application: string): string =>
  `https://discord.com/oauth2/authorize?client_id=${application}&scope=bot+applications.commands` +
  `&permissions=${invitedPermissions}`;

const detailOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export function createProbe(api: Api) {
  async function get(path: string): Promise<Fields> {
    return record(await api.call("GET", path)) ?? {};
  }

  async function probe(): Promise<ChannelProbe> {
    try {
      const identity = identityOf(await get("/users/@me"));
      const application = await get("/oauth2/applications/@me");
      const servers = list(await api.call("GET", "/users/@me/guilds?limit=200")).length;
      const reads = readsContent(application);
      return {
        ok: true,
        detail: `${identity.username ?? "the bot"} (${identity.id}), in ${servers} server${servers === 1 ? "" : "s"}`,
        identity,
        seesAllGroupMessages: reads,
        findings: findingsOf(application, { reads, servers }),
      };
    } catch (error) {
      const isRefused = error instanceof ChannelError && error.reason === "unauthorized";
      return {
        ok: false,
        detail: isRefused
          ? "Discord rejects the token: copy a new one from the page Bot of the application"
          : detailOf(error),
      };
    }
  }

  async function members(chat: string): Promise<ChannelMembership> {
    if (!isSnowflake(chat)) return { ok: false, detail: "it is not the id of a channel: copy the id in Discord" };
    try {
      const channel = await get(`/channels/${chat}`);
      const [guild, bot] = [id(channel.guild_id), identityOf(await get("/users/@me")).id];
      if (guild === undefined) return { ok: false, detail: "it is a direct chat: use the id of the person" };
      const [server, member] = [await get(`/guilds/${guild}`), await get(`/guilds/${guild}/members/${bot}`)];
      const missing = missingPermissions({ bot, guild: server, channel, member });
      const name = `#${text(channel.name) ?? chat} in ${text(server.name) ?? guild}`;
      const [first] = missing;
      if (first === "View Channel" || first === "Send Messages")
        return {
          ok: false,
          detail: `${name}: in the settings of the channel, under Permissions, give the bot: ${missing.join(", ")}`,
        };
      return {
        ok: true,
        detail: missing.length === 0 ? name : `${name}, without the permissions ${missing.join(", ")}`,
      };
    } catch (error) {
      const reason = error instanceof ChannelError ? error.reason : "";
      if (reason === "chat_not_found")
        return { ok: false, detail: "Discord does not know the channel: correct the id" };
      if (reason === "no_rights")
        return {
          ok: false,
          detail: "the bot does not see it: invite the bot to the server, and give it the permission View Channel",
        };
      return { ok: false, detail: detailOf(error) };
    }
  }

  return { probe, members };
}

function findingsOf(
  application: Fields,
  { reads, servers }: { readonly reads: boolean; readonly servers: number },
): readonly Finding[] {
  const findings: Finding[] = [];
  const app = id(application.id);
  if (!reads)
    findings.push({
      name: "message content intent",
      reason: "it is off: in servers the bot reads only messages that mention it",
      fix: codes.content_intent_missing.hint,
    });
  if (text(application.interactions_endpoint_url) !== undefined)
    findings.push({
      name: "interactions endpoint",
      reason: "the application has an Interactions Endpoint URL, so presses and slash commands do not reach the bot",
      fix:
        "Open https://discord.com/developers/applications, choose the application, then General Information, and " +
        "clear Interactions Endpoint URL.",
    });
  if (servers === 0 && app !== undefined)
    findings.push({
      name: "no server",
      reason: "the bot is in no server, so it gets no messages",
      fix: `Invite it: open ${invitation(app)}`,
    });
  return findings;
}

const bits = (value: unknown): bigint => (/^\d{1,25}$/.test(text(value) ?? "") ? BigInt(text(value) ?? "0") : 0n);

/** The names of what the bot lacks in a channel. See https://discord.com/developers/docs/topics/permissions. */
function missingPermissions({
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
