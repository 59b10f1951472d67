/** What Slack's errors mean: `ok: false` with a name, in an answer with status 200. */
import type { PluginDefinition } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";

const appPage = "https://api.slack.com/apps";

export const codes: NonNullable<PluginDefinition["codes"]> = {
  missing_scope: {
    meaning: "The Slack app lacks a permission (scope).",
    hint: `Open ${appPage}, add the scope under OAuth & Permissions > Bot Token Scopes, and press Reinstall.`,
    outcome: "failed",
  },
  socket_mode_off: {
    meaning: "Socket Mode of the Slack app is switched off.",
    hint: `Open the app at ${appPage}, and switch on Settings > Socket Mode.`,
  },
  edit_changes_nothing: {
    meaning: "Slack changed how a message is shown, such as its preview of a link. The writer changed nothing.",
    hint: "",
    outcome: "silent",
  },
  not_a_message: { meaning: "The reaction is to a file, not to a message.", hint: "", outcome: "silent" },
  own_reaction: { meaning: "The reaction is the bot's own.", hint: "", outcome: "silent" },
};

interface Meaning {
  readonly reason: string;
  readonly hint?: string;
  /** Default `not-sent`: Slack did nothing. */
  readonly fate?: "unknown";
  readonly retryable?: true;
}

const token = (hint: string): Meaning => ({ reason: "unauthorized", hint });
const unknownChat = (hint?: string): Meaning => ({ reason: "chat_not_found", ...(hint !== undefined && { hint }) });
const newToken =
  `Open the app at ${appPage}, press OAuth & Permissions > Reinstall to Workspace, and set botToken to the token ` +
  "that is shown then.";
const admin: Meaning = {
  reason: "no_rights",
  hint: "An admin of the workspace has restricted this. Ask them to allow the app to write there.",
};
const gone: Meaning = { reason: "message_gone" };
const broken: Meaning = { reason: "platform_error", fate: "unknown", retryable: true };
const away: Meaning = { reason: "platform_error", retryable: true };

/** https://docs.slack.dev/reference/methods: the errors of each method that is called here. */
const meanings: Readonly<Record<string, Meaning>> = {
  invalid_auth: token(`The token is wrong or was revoked. ${newToken}`),
  not_authed: token(newToken),
  token_revoked: token(newToken),
  token_expired: token(
    "The token has expired, because token rotation is on. Create the app again from the manifest, which leaves it off.",
  ),
  account_inactive: token(`The app was removed from the workspace, or the workspace was closed. ${newToken}`),
  not_allowed_token_type: token(
    "The token is of another kind. botToken begins with xoxb- (OAuth & Permissions), appToken with xapp- (Basic " +
      "Information > App-Level Tokens).",
  ),
  missing_scope: { reason: "missing_scope" },
  not_in_channel: unknownChat("The app is not in the channel. Write `/invite @` and its name there."),
  channel_not_found: unknownChat(
    "The app does not see the channel. In a private channel, write `/invite @` and its name; otherwise correct the id.",
  ),
  is_archived: unknownChat("The channel is archived. Unarchive it, or use another one."),
  user_not_found: unknownChat(),
  user_not_visible: unknownChat(),
  user_disabled: unknownChat("The person was deactivated in the workspace."),
  user_not_in_channel: unknownChat("The person is not in the channel, so nothing can be shown to them there."),
  cannot_dm_bot: unknownChat("Slack does not let one bot write to another."),
  messages_tab_disabled: {
    reason: "blocked_by_user",
    hint: `Open ${appPage}, and under App Home switch on the Messages Tab and "Allow users to send messages".`,
  },
  thread_not_found: { reason: "thread_gone" },
  invalid_thread_ts: { reason: "thread_gone" },
  message_not_found: gone,
  cant_update_message: gone,
  edit_window_closed: gone,
  cant_delete_message: gone,
  msg_too_long: { reason: "too_long" },
  msg_blocks_too_long: { reason: "too_long" },
  restricted_action: admin,
  restricted_action_read_only_channel: admin,
  restricted_action_thread_only_channel: admin,
  restricted_action_non_threadable_channel: admin,
  restricted_action_thread_locked: admin,
  team_access_not_granted: admin,
  access_denied: admin,
  no_permission: admin,
  ekm_access_denied: admin,
  org_login_required: admin,
  bad_timestamp: { reason: "bad_request" },
  invalid_name: { reason: "reaction_invalid" },
  file_not_found: { reason: "media_refused" },
  file_deleted: { reason: "media_refused" },
  ratelimited: { reason: "flood_wait", retryable: true },
  rate_limited: { reason: "flood_wait", retryable: true },
  message_limit_exceeded: {
    reason: "flood_wait",
    retryable: true,
    hint: "The workspace has used up its messages. Slack takes new ones later.",
  },
  // Slack's own words: some aspect of the operation may have succeeded before the error was raised.
  internal_error: broken,
  fatal_error: broken,
  service_unavailable: away,
  request_timeout: away,
  team_added_to_org: {
    reason: "platform_error",
    retryable: true,
    hint: "Slack moves the workspace; it answers later.",
  },
};

/** The error of a call that Slack refused. `needed` is the scope of `missing_scope`. */
export function refusedBySlack(
  method: string,
  { error, needed, retryAfterMs }: { readonly error: string; readonly needed?: string; readonly retryAfterMs?: number },
): ChannelError {
  const meaning = Object.hasOwn(meanings, error) ? meanings[error] : undefined;
  const { reason, hint, fate, retryable }: Meaning = meaning ?? { reason: "bad_request" };
  const scope = needed === undefined ? "" : `, it needs ${needed}`;
  const own = hint ?? (reason === "missing_scope" ? missingScopeHint(needed) : undefined);
  return new ChannelError(reason, {
    ...{ fate, retryable, retryAfterMs },
    detail: `${method}: ${error}${scope}`,
    ...(own !== undefined && { hint: own }),
  });
}

export function missingScopeHint(scope = "the scope"): string {
  const place = `Open the app at ${appPage}, add ${scope} under OAuth & Permissions > Bot Token Scopes`;
  return `${place}, and press Reinstall to Workspace.`;
}
