/** Errors of the connection to a server, independent of the protocol above it. */

/** A request without a complete answer. `sent` is true if it may have reached the platform. */
export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: string;
  readonly sent: boolean;

  constructor(code: string, sent: boolean) {
    super(code);
    this.code = code;
    this.sent = sent;
  }
}

/** The part of an abort signal that Node's and grammY's implementations share. */
export interface Stoppable {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A proxy's refusals have no code, or an ambiguous one, so they are recognized by their text. */
const proxyWords: readonly (readonly [RegExp, string])[] = [
  [
    /^Proxy response \(407\)|^Proxy Authentication Required|Socks5 Authentication failed|no accepted authentication type/,
    "PROXY_AUTHENTICATION",
  ],
  [/^Proxy response \(\d+\)|Socks5 proxy rejected connection/, "PROXY_REFUSED"],
  [/^Proxy connection timed out$/, "PROXY_TIMEOUT"],
  [/^Received invalid Socks5|^Socket closed$/, "PROXY_BAD_ANSWER"],
];

/** The code of an error. The message is dropped, because it may contain a URL, and a URL contains the token. */
export function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  const { code, name, message } = (thrown ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  const refusal = typeof message === "string" ? proxyWords.find(([words]) => words.test(message))?.[1] : undefined;
  if (refusal !== undefined) return refusal;
  // The SOCKS client reports errors only as text: `connect ECONNREFUSED <address>`.
  const systemCode =
    typeof code !== "string" && typeof message === "string"
      ? /^[a-z]+ (E[A-Z0-9_]{2,30})\b/.exec(message)?.[1]
      : undefined;
  if (systemCode !== undefined) return systemCode;
  if (typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  return typeof name === "string" && /^\w{1,60}$/.test(name) ? name : "UNKNOWN";
}
