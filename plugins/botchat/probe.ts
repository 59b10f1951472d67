/** Asks the platform about the bot: its identity, how it receives updates and where it is a member. Read-only. */
import { ChannelError, type ChannelMembership, type ChannelProbe } from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { failureOf } from "./intake/failure.ts";
import type { AccountOptions } from "./options.ts";
import type { BotApi, Result } from "./wire/api.ts";

export interface ProbeOptions {
  readonly api: () => Promise<BotApi>;
  readonly botId: string;
  readonly webhookUrl: AccountOptions["webhookUrl"];
  /** Epoch milliseconds, to compute the age of a failure reported by the platform. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Probe {
  probe(): Promise<ChannelProbe>;
  members(chat: string): Promise<ChannelMembership>;
}

/** The platform reports the last failed delivery forever. Older failures, in milliseconds, no longer matter. */
const recentMs = 60 * 60_000;
const manyWaiting = 100;

type Finding = NonNullable<ChannelProbe["findings"]>[number];

export function createProbe({ api, botId, webhookUrl, now, signal }: ProbeOptions): Probe {
  async function probe(): Promise<ChannelProbe> {
    try {
      const live = await api();
      const me = await live.call("getMe", {}, signal);
      const hook = await live.call("getWebhookInfo", {}, signal);
      const mode = `${hook.url ? "webhook" : "polling"}, ${hook.pending_update_count} waiting`;
      const privacy = me.can_read_all_group_messages
        ? "reads all group messages"
        : "privacy mode is on: in groups it sees only messages addressed to it";
      return {
        ok: true,
        detail: `@${me.username} (${me.id}), ${mode}, ${privacy}`,
        identity: { id: String(me.id), username: me.username, name: me.first_name },
        seesAllGroupMessages: me.can_read_all_group_messages,
        findings: webhookFindings(hook, webhookUrl, now()),
      };
    } catch (error) {
      return { ok: false, detail: failureDetail(error), identity: { id: botId } };
    }
  }

  async function members(chat: string): Promise<ChannelMembership> {
    try {
      const member = await (await api()).call("getChatMember", { chat_id: chat, user_id: Number(botId) }, signal);
      const { status } = member;
      if (status === "left") return { ok: false, detail: "the bot is not in it: add it to the group" };
      if (status === "kicked")
        return { ok: false, detail: "the bot was removed from it: let an administrator add it again" };
      if (status === "restricted" && (!member.is_member || !member.can_send_messages))
        return { ok: false, detail: "the bot may not write in it: let an administrator lift the restriction" };
      return { ok: true, detail: status, seesAll: status === "administrator" || status === "creator" };
    } catch (error) {
      return { ok: false, detail: refusedChat(error) };
    }
  }

  return { probe, members };
}

/** `doctor` shows what follows the last colon as what to do. */
function failureDetail(error: unknown): string {
  const { code, detail, hint = codes[code]?.hint } = failureOf(error);
  return hint === undefined ? detail : `${detail}: ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
}

function refusedChat(error: unknown): string {
  const reason = error instanceof ChannelError ? error.reason : "";
  if (reason === "chat_migrated") return "the group has a new id since it became a supergroup: replace this id with it";
  if (reason === "chat_not_found") return "the chat is unknown to the bot: add it to the group, or correct the id";
  if (reason === "no_rights") return "the bot is not in it: add it to the group";
  return failureDetail(error);
}

/** Finds problems that prevent updates from arriving but do not show in an open connection. */
function webhookFindings(
  hook: Result<"getWebhookInfo">,
  webhookUrl: string | undefined,
  now: number,
): readonly Finding[] {
  const findings: Finding[] = [];
  if (webhookUrl === undefined && hook.url)
    findings.push({
      name: "webhook left over",
      reason: `the platform sends updates to ${hostOf(hook.url)}, while this account polls`,
      fix:
        "The gateway removes it when it starts. If it comes back, another program uses this bot: give " +
        "that program its own bot.",
    });
  if (webhookUrl !== undefined && hook.url !== webhookUrl)
    findings.push({
      name: "webhook not set",
      reason: hook.url
        ? `the platform sends updates to ${hostOf(hook.url)} and not to webhookUrl`
        : "the platform has no webhook for this bot",
      fix:
        "The gateway sets it when it starts. If it disappears again, another program uses this bot: give " +
        "that program its own bot.",
    });
  const failedAt = (hook.last_error_date ?? 0) * 1_000;
  if (webhookUrl !== undefined && hook.url === webhookUrl && now - failedAt < recentMs)
    findings.push({
      name: "webhook fails",
      reason:
        "the platform could not deliver an update in the last hour: " +
        `${hook.last_error_message ?? "it does not say why"}`,
      fix:
        "Check that webhookUrl reaches webhookHost and webhookPort through the proxy in front, over " +
        "https with a valid certificate.",
    });
  if (hook.pending_update_count > manyWaiting)
    findings.push({
      name: "updates wait",
      reason: `${hook.pending_update_count} updates wait at the platform`,
      fix: "They are received while a gateway runs. If the number grows while one runs, check its log.",
    });
  return findings;
}

/** The host of a URL. The path of a webhook is often secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an invalid URL";
}
