/** Addresses of accounts on the gateway's own port, to which a platform posts its events. */
import type { RouteAnswer } from "./routes.ts";

/** What is known of a request before its body is read. */
export interface ChannelRequestHead {
  readonly method: string;
  /** The whole path, without the query. */
  readonly path: string;
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Client address, with `gateway.trustedProxies` applied. */
  readonly clientAddress: string;
  /**
   * Checks the caller by what the platform sends, such as a secret or a signature: `undefined` if it is right,
   * otherwise the answer to return, 401 or 429 with `Retry-After`. `isRight` compares in constant time; it is not
   * called while the client has failed too often. The limits are those of `ChannelAccount.judgeCaller`.
   *
   * @example
   * const refused = request.judge(() => isSigned(request.headers["x-signature"], request.body));
   * if (refused !== undefined) return refused;
   */
  judge(isRight: () => boolean): RouteAnswer | undefined;
}

/** A request of a platform. */
export interface ChannelRequest extends ChannelRequestHead {
  /** The bytes of the body, unchanged, as a signature needs them; empty if there is none. */
  readonly body: Buffer;
}

type ChannelMethod = "GET" | "POST" | "PUT" | "DELETE";

/**
 * An address of one account: `/channels/<channel>/<account>/<path>` on the gateway's port. It answers as long as the
 * account is open, also while another node receives for the account, so a platform may post to any node. Everyone
 * who reaches the port can call it: judge the caller before anything else.
 *
 * An event that could not be stored must not be confirmed: let the rejection of `receive` pass, and the answer is 503,
 * so that the platform posts it again. Any other error is answered with 500. Deadline 120 s.
 */
export interface ChannelRoute {
  /** Below the account's own address: letters, digits and `-._~`, with `/` between parts, such as `events`. */
  readonly path: string;
  /** Default: `POST` only. Other methods are answered with 405. */
  readonly methods?: readonly ChannelMethod[];
  /** Bytes; default 262,144. A larger body is answered with 413 before the handler runs. */
  readonly maxBytes?: number;
  /**
   * Refuses a request by its head, before a byte of its body is read, where the platform sends a secret in a header.
   * Returns the answer; `undefined`: the body is read.
   */
  refuse?(request: ChannelRequestHead): RouteAnswer | undefined | Promise<RouteAnswer | undefined>;
  handler(request: ChannelRequest): RouteAnswer | Promise<RouteAnswer>;
}

/**
 * An address that all accounts of a channel share, `/channels/<channel>/<path>`, for an app that has one address for
 * all of its workspaces. The account that `accountOf` names answers with its own route of the same path.
 *
 * @example
 * route: {
 *   path: "events",
 *   accountOf({ body }, accounts) {
 *     const { team } = JSON.parse(body.toString("utf8"));
 *     return accounts.find(({ options }) => options.team === team)?.id;
 *   },
 * },
 */
export interface SharedChannelRoute<Options = unknown> {
  /** One part: letters, digits and `-._~`. */
  readonly path: string;
  readonly methods?: readonly ChannelMethod[];
  readonly maxBytes?: number;
  /**
   * The account that a request is for, by what its body or query says. Pure. The request is not judged yet, so nothing
   * of it may be believed: the account that is named judges it. `undefined`, an unknown account and an error are
   * answered with 404.
   */
  accountOf(
    request: Omit<ChannelRequest, "judge">,
    accounts: readonly { readonly id: string; readonly options: Options }[],
  ): string | undefined;
}
