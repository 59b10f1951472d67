/** Asks the server about the bot: who it is, where it may write, and which switch is missing. Changes nothing. */
import {
  type ChannelConnection,
  ChannelError,
  type ChannelMembership,
  type ChannelProbe,
} from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import type { Directory } from "./directory.ts";
import { isId, list, record, text } from "./fields.ts";
import type { Options } from "./options.ts";
import type { ServerSettings } from "./server.ts";

type Finding = NonNullable<ChannelProbe["findings"]>[number];

export function createProbe({
  api,
  directory,
  settings,
  options,
}: {
  readonly api: Api;
  readonly directory: Directory;
  readonly settings: () => Promise<ServerSettings>;
  readonly options: () => Pick<Options, "ephemeral">;
}): Required<Pick<ChannelConnection, "probe" | "members" | "resolve">> {
  async function mayBeEphemeral(roles: string): Promise<boolean> {
    for (const role of roles.split(" ").filter((name) => name !== "")) {
      const { permissions } = record(await api.call("GET", `roles/name/${encodeURIComponent(role)}`));
      if (list(permissions).includes("create_post_ephemeral")) return true;
    }
    return false;
  }

  async function findings(me: Readonly<Record<string, unknown>>): Promise<readonly Finding[]> {
    const name = `@${text(me.username)}`;
    const found: Finding[] = [];
    if (me.is_bot !== true)
      found.push({
        name: "no bot account",
        reason: `${name} is the account of a person, so its messages look like theirs`,
        fix: "Create a bot: product menu, Integrations, Bot Accounts, Add Bot Account.",
      });
    if (list(await api.call("GET", "users/me/teams")).length === 0)
      found.push({
        name: "no team",
        reason: `${name} is in no team, so it can be in no channel`,
        fix: `Open the team menu, Invite People, and choose ${name}. Then write /invite ${name} in a channel.`,
      });
    if (!(await settings()).allowsFiles)
      found.push({
        name: "files disabled",
        reason: "the server does not allow files",
        fix:
          "An administrator sets Allow File Sharing in System Console, Site Configuration, " +
          "File Sharing and Downloads.",
      });
    if (options().ephemeral && !(await mayBeEphemeral(text(me.roles))))
      found.push({
        name: "no ephemeral posts",
        reason: `ephemeral is set, and ${name} may not show a message to one person`,
        fix: "Set ephemeral to false, or let an administrator set the role of the bot to System Admin.",
      });
    return found;
  }

  async function probe(): Promise<ChannelProbe> {
    try {
      const me = record(await api.call("GET", "users/me"));
      const { version } = await settings();
      const identity = { id: text(me.id), username: text(me.username) };
      const detail = `@${identity.username} on Mattermost ${version}, by WebSocket`;
      return { ok: true, detail, identity, seesAllGroupMessages: true, findings: await findings(me) };
    } catch (error) {
      return { ok: false, detail: wordsOf(error) };
    }
  }

  async function members(chat: string): Promise<ChannelMembership> {
    if (!isId(chat)) return { ok: false, detail: "this is not an id: it has 26 small letters and digits" };
    try {
      const me = await directory.me();
      const { roles } = record(await api.call("GET", `channels/${chat}/members/${me.id}`));
      return { ok: true, detail: text(roles).includes("channel_admin") ? "channel admin" : "member", seesAll: true };
    } catch (error) {
      const { reason } = error as Partial<ChannelError>;
      if (reason !== "no_rights" && reason !== "chat_not_found") return { ok: false, detail: wordsOf(error) };
      const { username } = await directory.me();
      return { ok: false, detail: `the bot is not in it: write /invite @${username} in the channel` };
    }
  }

  async function resolve(target: string): Promise<string> {
    if (isId(target)) return target;
    const [, person] = /^@([a-z0-9._-]+)$/i.exec(target) ?? [];
    const [, team, channel] = /^~?([a-z0-9_-]+)\/([a-z0-9_.-]+)$/i.exec(target) ?? [];
    const path =
      person === undefined
        ? `teams/name/${team?.toLowerCase()}/channels/name/${channel?.toLowerCase()}`
        : `users/username/${person.toLowerCase()}`;
    if (person === undefined && channel === undefined)
      throw new ChannelError("chat_not_found", {
        detail: "This is neither an id, nor @name, nor team/channel",
        hint: "Write @ada for a person, or team/channel with the names of the channel's address.",
      });
    const found = record(await api.call("GET", path));
    if (!isId(found.id)) throw new ChannelError("bad_answer", { detail: `GET ${path}: the answer has no id` });
    return found.id;
  }

  return { probe, members, resolve };
}

/** `doctor` shows what follows the last colon as what to do. */
function wordsOf(error: unknown): string {
  if (!(error instanceof ChannelError)) return "the server's answer cannot be used";
  const { message, hint } = error;
  return hint === undefined ? message : `${message}: ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
}
