/** Asks the platform about the bot: who it is, which switches are off, and where it may write. It changes nothing. */
import { ChannelError, type ChannelMembership, type ChannelProbe } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { codes } from "./codes.ts";
import { type Fields, id, list, number, record, text } from "./fields.ts";
import { invitedPermissions, missingPermissions } from "./permissions.ts";
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

export const invitation = (application: string): string =>
  `https://discord.com/oauth2/authorize?client_id=${application}&scope=bot+applications.commands&permissions=${invitedPermissions}`;

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
        detail: `${identity.username ?? identity.id} (${identity.id}), in ${servers} ${servers === 1 ? "server" : "servers"}`,
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
      fix: "Open https://discord.com/developers/applications, choose the application, then General Information, and clear Interactions Endpoint URL.",
    });
  if (servers === 0 && app !== undefined)
    findings.push({
      name: "no server",
      reason: "the bot is in no server, so nobody can write to it",
      fix: `Invite it: open ${invitation(app)}`,
    });
  return findings;
}
