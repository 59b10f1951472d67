/** The failures after which nothing else reaches the chat either. */

/** The chat or the account is unreachable, so neither the rest of a reply nor an apology would arrive. */
export const unreachable: ReadonlySet<string> = new Set([
  "no_channel",
  "account_not_open",
  "blocked_by_user",
  "chat_not_found",
  "outside_window",
  "thread_gone",
  "unauthorized",
]);
