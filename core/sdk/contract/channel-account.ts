/** One account of a channel, as the host passes it to the channel, and the state that the channel reports. */
import type { IncomingMessage } from "node:http";
import type { Accepted, Json, RawEvent } from "../../contract/index.ts";
import type { ChannelRoute } from "./channel-route.ts";
import type { PluginLog } from "./plugin-log.ts";
import type { PluginStore } from "./plugin-store.ts";

/**
 * What a person has to do so that the bot can sign in, such as to scan a code with their phone. It is shown to people
 * who may manage the gateway, and never logged or stored, because a stranger who has the code could sign in.
 *
 * @example
 * const action: SignInAction = {
 *   text: "On your phone, open Settings > Linked devices > Link new device, and scan the code.",
 *   qr: "sgnl://linkdevice?uuid=...&pub_key=...",
 * };
 */
export interface SignInAction {
  /** One or two sentences: what to do, and where. At most 500 characters. */
  readonly text: string;
  /** A page to open in a browser, with http or https. At most 2,000 characters. */
  readonly url?: string;
  /** A code to type in there. At most 200 characters. */
  readonly code?: string;
  /** The text of a QR code, which a terminal and the console show as a picture. At most 1,000 bytes. */
  readonly qr?: string;
}

/**
 * Secrets that the account got at run time, such as the session of a linked device. They survive a restart, and are
 * removed from everything that the gateway logs, stores and shows, like secrets of the configuration. Backups contain
 * them only with `--with-secrets`. With several nodes, each has its own.
 *
 * @example
 * const session = await account.secrets.get("session");
 * if (session === undefined) await account.secrets.set("session", await signIn());
 */
export interface AccountSecrets {
  /** `undefined` if there is none of this name. */
  get(name: string): Promise<string | undefined>;
  /**
   * Replaces the secret in one step, in a file with mode 0600. Resolves when it is on the disk. `name` consists of
   * letters, `0-9`, `-`, `_`, `.` and `@`; `text` has at least one character and at most 64 KiB.
   */
  set(name: string, text: string): Promise<void>;
  /** `false` if there was none of this name. */
  delete(name: string): Promise<boolean>;
}

/**
 * What `service status` shows of one account. `waiting`: it retries on its own; `failed`: the operator has to fix
 * something.
 */
export interface ChannelStatus {
  readonly state: "connecting" | "connected" | "waiting" | "stopped" | "failed";
  /**
   * If something is wrong: the reason, as a code of the channel's `codes` or one of the gateway's own
   * (`core/CODES.md`). The host adds the meaning and the hint of the code wherever `detail` and `hint` are absent.
   *
   * @example
   * account.status({ state: "failed", code: "unauthorized" });
   */
  readonly code?: string;
  /** If something is wrong: what, as one sentence. Default: the meaning of `code`. */
  readonly detail?: string;
  /**
   * What the operator can do about it, as a sentence. Default: the hint of `code`. Without a code, `detail` may include
   * the remedy.
   */
  readonly hint?: string;
  /**
   * With `waiting`: what a person has to do. `service channels status`, `service init` and the console show it until
   * the next report. Report it again with each new code. Default of `code`: `sign_in_needed`.
   */
  readonly action?: SignInAction;
  /**
   * Time of the last completed exchange with the platform, in epoch milliseconds. A reported call (`calling`) sets it
   * as well.
   */
  readonly lastContactAt?: number;
  /** The bot's own name and id, once known. */
  readonly identity?: { readonly id: string; readonly username?: string; readonly name?: string };
}

/** Whether a caller of a channel's own listener is accepted. */
export type CallerVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly status: 401 | 429;
      /** Whole seconds, with status 429. */
      readonly retryAfterSeconds?: number;
    };

/**
 * What the platform reports of a message that it accepted before: it has arrived, the person has seen it, or it did not
 * arrive, with the reason as a code of the channel's `codes` or one of the gateway's own.
 */
export type SentReport = "delivered" | "read" | { readonly failed: string };

/** One account of a channel, as the host passes it to `open`. */
export interface ChannelAccount<O = Readonly<Record<string, unknown>>> {
  /** Account id, such as `default`. */
  readonly id: string;
  /** The account's own options, merged and with defaults; secrets are resolved to strings. */
  readonly options: O;
  readonly log: PluginLog;
  /** The store of this account alone. */
  readonly store: PluginStore;
  readonly secrets: AccountSecrets;
  /** Aborted when the account closes. */
  readonly signal: AbortSignal;
  /** A private directory for the account's files, inside the state directory. */
  readonly directory: string;
  now(): number;
  newId(): string;
  /**
   * Submits one platform event, as the platform sent it, with what `parse` needs and the event lacks, such as `{ line,
   * nick, at }`. Calls are stored in the order in which they are made, also without waiting for each. Resolves when the
   * event is on the disk: confirm it to the platform then. Rejects if it could not be stored, or once the account
   * closes (`account_closed`): do not confirm it. A message of the bot's own, `{ silent: "own_message" }`, is not
   * stored: its id belongs to no event.
   *
   * - `id`: the platform's id of the event, such as an update id. An id that arrives again within seven days is a
   *   duplicate and is not processed again. Default: the `messageId` of a message within its lane. Every other event
   *   gets a new id, so none is a duplicate.
   * - `identity`: the owner of these ids, if that is the bot behind the account. Default: the account's id.
   * - `lane`: channel, account, chat and thread, such as `irc:default:#room`. Events of one lane run one at a time.
   *   Control commands such as `/stop` get a separate lane. Ids may contain colons: if the lane names the chat of
   *   `parse`, the host encodes them. Default: the lane of the chat and thread that `parse` returns.
   * - `gather`: events of one sender that belong together, such as an album, and are handled as one; `parse` receives
   *   all of them. Never gather events of several senders: access and rights are those of the one sender that `parse`
   *   returns.
   * - `silent`: the reason why the event needs no reply, if that is already known. The event is stored and ends with
   *   this reason.
   *
   * @example
   * // The photos of an album come as separate events and belong to one message.
   * // `parse` receives the first, and the others as `more`.
   * const gather = { key: `album:${event.album}`, due: account.now() + 500, extend: true } as const;
   * await account.receive(event, { gather });
   */
  receive(
    raw: Json,
    at?: {
      readonly id?: string;
      readonly lane?: string;
      readonly identity?: string;
      readonly gather?: RawEvent["gather"];
      readonly silent?: string;
    },
  ): Promise<Accepted>;
  /**
   * Checks an event that the platform wants answered at once, outside the lanes, such as a button press. The check has
   * no effect: it creates no pairing code and no row. `notice`: one short sentence for a sender who is refused.
   */
  check(
    raw: Json,
  ): Promise<{ readonly allowed: true } | { readonly allowed: false; readonly code: string; readonly notice: string }>;
  /**
   * The current value of `messages.inbound.debounceMs`: messages that one sender writes within this time are combined
   * into one; 0 combines none.
   */
  debounceMs(): number;
  /**
   * Says whether a source that polls for its events should fetch more. `undefined`: yes. With more than 96 units in
   * progress, the promise resolves when there are fewer, or after 100 ms; it never rejects. Events that stay at the
   * source use no memory here. When many arrive at once, check again after every two dozen.
   */
  room(): Promise<void> | undefined;
  /**
   * For a channel's own listener: checks a caller by the secret that the platform sends. `isRight` compares the
   * presented secret with the configured one in constant time; it is not called while the client has failed too often.
   * Answer with `status`, and 429 with `Retry-After`. Clients are distinguished as on the gateway's own routes: by
   * `gateway.trustedProxies`, IPv6 by /64. After 20 failures in 60 s the status is 429. After 200 no secret is
   * compared, unless the client succeeded within the last hour.
   *
   * @example
   * const caller = account.judgeCaller(request, () => timingSafeEqual(digest(given), expected));
   * if (!caller.ok) return answer(response, caller.status, caller.retryAfterSeconds);
   */
  judgeCaller(request: IncomingMessage, isRight: () => boolean): CallerVerdict;
  /**
   * Answers at `/channels/<channel>/<account>/<path>` of the gateway's port, to which the platform posts its events.
   * Call it in `open`: the address then answers on every node and as long as the account is open, also before `start`
   * and while standing by. A later route with the same path replaces it. `service channels status` prints the public
   * address to give to the platform (`gateway.publicUrl`), and whether it has been called. Throws if the path is not
   * usable.
   *
   * @example
   * account.route({
   *   path: "events",
   *   maxBytes: 1_000_000,
   *   async handler(request) {
   *     const refused = request.judge(() => isSigned(request, account.options.secret));
   *     if (refused !== undefined) return refused;
   *     await account.receive(JSON.parse(request.body.toString("utf8")));
   *     return { status: 200 };
   *   },
   * });
   */
  route(route: ChannelRoute): void;
  /**
   * Reports a call to the platform: call it just before the request, and call the returned function when the platform
   * has answered that the call succeeded. A send whose outcome is unknown is repeated only after a later call has
   * succeeded. Report every kind of call, polls included. If a channel reports none, only `send` and `probe` show that
   * the platform answers.
   */
  calling(): () => void;
  /**
   * Reports what became of a message after `send` had its receipt, by any of the ids of that receipt. It becomes a line
   * in the trace of the event (`service why`), once for each message and report. If an answer to a person did not
   * arrive, they get one apology, as after a failed send. A message that this account did not send in the last 30 days
   * is ignored. `chat`: needed where the platform numbers the messages of each chat. Resolves when the report is on the
   * disk: confirm it to the platform then. Rejects if it could not be stored. Works on every node.
   *
   * @example
   * // A webhook of the platform: { "id": "m7", "status": "failed", "error": 470 }
   * if (status === "failed") await account.sent(id, { failed: error === 470 ? "outside_window" : "platform_error" });
   * else if (status === "delivered" || status === "read") await account.sent(id, status);
   */
  sent(messageId: string, report: SentReport, at?: { readonly chat?: string }): Promise<void>;
  /** Reports the current state of the connection. A report without `identity` or `lastContactAt` keeps the last one. */
  status(status: ChannelStatus): void;
  /** The chat commands of the gateway and of all plugins, for a menu. */
  commands(): readonly { readonly name: string; readonly summary: string }[];
}
