/** What the operator sees of a plugin: its self-tests, and the state of what it watches. */

/**
 * A self-test of the plugin for the operator: a verdict, the reason, and what to do. `service doctor` runs it in the
 * running gateway, for at most 10 s; a throw is a `fail`.
 *
 * @example
 * host.check({
 *   name: "archive",
 *   explain: async () => ({ verdict: "warn", reason: "It is nearly full.", fix: "Empty it." }),
 * });
 */
export interface CheckDefinition {
  /** One or two words, such as `archive`. */
  readonly name: string;
  explain(): Promise<{ readonly verdict: "ok" | "warn" | "fail"; readonly reason: string; readonly fix?: string }>;
  /** Repairs what `explain` found, if the operator passes `--fix`. Returns one sentence that says what was done. */
  fix?(): Promise<string>;
}

/** The state of one thing that a plugin watches, such as a feed. */
export interface WatchedStatus {
  /** The kind of source and the account's name, such as `imap` and `ada`. */
  readonly source: string;
  readonly account: string;
  /** `standby`: another gateway on the same store watches it. Like `ok`, it does not make this gateway degraded. */
  readonly state: "ok" | "standby" | "retrying" | "paused" | "needs_login" | "needs_setup";
  /** One sentence; empty if all is well. */
  readonly reason: string;
  /** What to do; empty if all is well. */
  readonly fix: string;
  /** The last item that arrived: what it is, in one word such as `message`, and when, in epoch milliseconds. */
  readonly last?: { readonly what: string; readonly at: number };
  /** When the source was last read to its end, in epoch milliseconds. */
  readonly lastSync?: number;
  /** When the server's notifications end, in epoch milliseconds; absent if they do not end, or if there are none. */
  readonly expires?: number;
}
