/** Asks Slack about the account: who the bot is, what it may do, where it is. It changes nothing there. */
import {
  type ChannelConnection,
  ChannelError,
  type ChannelMembership,
  type ChannelProbe,
} from "service-gateway/sdk/channel";
import type { SlackApi } from "./api.ts";
import { missingScopeHint } from "./errors.ts";
import { channelPattern, idPattern, record, records, text } from "./fields.ts";
import type { Options } from "./options.ts";
import { scopes } from "./scopes.ts";

type Calls = Required<Pick<ChannelConnection, "probe" | "members" | "resolve">>;
type Finding = NonNullable<ChannelProbe["findings"]>[number];

const anyId = new RegExp(`^(?:${idPattern}|${channelPattern})$`);
const mostPages = 20;

interface Around {
  options(): Options;
  /** The call that checks an app-level token is limited to one a minute, which the connection needs. */
  isConnected(): boolean;
}

export function createProbe(api: SlackApi, around: Around): Calls {
  const sentence = (error: unknown) =>
    error instanceof ChannelError && error.hint !== undefined ? `${error.message}: ${error.hint}` : String(error);

  async function* pages(method: string, key: string, args: Readonly<Record<string, string | number>>) {
    let cursor = "";
    for (let page = 0; page < mostPages; page += 1) {
      const answer = await api.call(method, { ...args, limit: 200, ...(cursor !== "" && { cursor }) });
      yield* records(answer[key]);
      cursor = text(record(answer.response_metadata)?.next_cursor) ?? "";
      if (cursor === "") return;
    }
  }

  async function named(target: string): Promise<string | undefined> {
    if (/^[^\s@#]+@[^\s@]+$/.test(target))
      return text(record((await api.call("users.lookupByEmail", { email: target })).user)?.id);
    const name = target.slice(1).toLowerCase();
    if (target.startsWith("#")) {
      for await (const { id, name: other } of pages("users.conversations", "channels", {
        types: "public_channel,private_channel",
      }))
        if (other === name) return text(id);
    } else if (target.startsWith("@")) {
      for await (const { id, name: other, profile, deleted } of pages("users.list", "members", {}))
        if (deleted !== true && (other === name || text(record(profile)?.display_name)?.toLowerCase() === name))
          return text(id);
    }
    return undefined;
  }

  return {
    async probe() {
      try {
        const me = await api.call("auth.test");
        const [id, username, team] = [text(me.user_id) ?? "", text(me.user) ?? "", text(me.team) ?? ""];
        const how = around.options().appToken === undefined ? "events posted to the gateway" : "Socket Mode";
        return {
          ok: true,
          detail: `@${username} (${id}) in ${team}, ${how}`,
          identity: { id, username },
          seesAllGroupMessages: api.scopes()?.includes("channels:history") ?? true,
          findings: [...(await appFindings(api, around)), ...scopeFindings(api)],
        };
      } catch (error) {
        return { ok: false, detail: sentence(error) };
      }
    },
    async members(chat): Promise<ChannelMembership> {
      try {
        const channel = record((await api.call("conversations.info", { channel: chat })).channel);
        if (channel?.is_archived === true) return { ok: false, detail: "the channel is archived: unarchive it" };
        return channel?.is_member === true || channel?.is_im === true
          ? { ok: true, detail: "member", seesAll: true }
          : { ok: false, detail: "the app is not in the channel: write `/invite @` and its name there" };
      } catch (error) {
        return { ok: false, detail: sentence(error) };
      }
    },
    async resolve(target) {
      if (anyId.test(target)) return target;
      const found = await named(target).catch((error: unknown) => {
        if (error instanceof ChannelError && /: users_not_found$/.test(error.message)) return undefined;
        throw error;
      });
      if (found === undefined)
        throw new ChannelError("chat_not_found", {
          detail: "Slack knows no user of this name, and the app is in no channel of this name",
          hint: "Use an id, such as U0123ABCD or C0123ABCD, or #name, @name or a mail address.",
        });
      return found;
    },
  };
}

async function appFindings(api: SlackApi, { options, isConnected }: Around): Promise<readonly Finding[]> {
  if (options().appToken === undefined || isConnected()) return [];
  try {
    await api.call("apps.connections.open", {}, { asApp: true });
    return [];
  } catch (error) {
    if (!(error instanceof ChannelError) || error.retryable) return [];
    const fix =
      error.reason === "missing_scope"
        ? "Open the app at https://api.slack.com/apps, press Basic Information > App-Level Tokens > Generate, add " +
          "connections:write, and set appToken to the token."
        : (error.hint ?? "Switch on Settings > Socket Mode of the app, and check appToken.");
    return [{ name: "no events", reason: `Slack refuses the app-level token (${error.message})`, fix }];
  }
}

function scopeFindings(api: SlackApi): readonly Finding[] {
  const granted = api.scopes();
  if (granted === undefined) return [];
  return Object.entries(scopes)
    .filter(([scope]) => !granted.includes(scope))
    .map(([scope, without]) => ({ name: `scope ${scope}`, reason: without, fix: missingScopeHint(scope) }));
}
