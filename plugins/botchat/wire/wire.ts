/** What can go wrong between us and a server, before any word of either. */

/** A request that got no whole answer. `sent`: it may have reached the platform. */
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

/** The part of an abort signal that both Node's and grammY's own have. */
export interface Stoppable {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Refusals of a proxy have no code of their own, or one that many things have: they are known by their words. */
const proxyWords: readonly (readonly [RegExp, string])[] = [
  [
    /^Proxy response \(407\)|^Proxy Authentication Required|Socks5 Authentication failed|no accepted authentication type/,
    "PROXY_AUTHENTICATION",
  ],
  [/^Proxy response \(\d+\)|Socks5 proxy rejected connection/, "PROXY_REFUSED"],
  [/^Proxy connection timed out$/, "PROXY_TIMEOUT"],
  [/^Received invalid Socks5|^Socket closed$/, "PROXY_BAD_ANSWER"],
];

/** A code and nothing else: what an error says may hold an address, and an address holds the token. */
export function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  const { code, name, message } = (thrown ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  const refusal = typeof message === "string" ? proxyWords.find(([words]) => words.test(message))?.[1] : undefined;
  if (refusal !== undefined) return refusal;
  // The SOCKS client hands on what happened in words alone: `connect ECONNREFUSED <address>`.
  const told = typeof code !== "string" && typeof message === "string" ? /^[a-z]+ (E[A-Z0-9_]{2,30})\b/.exec(message)?.[1] : undefined;
  if (told !== undefined) return told;
  if (typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  return typeof name === "string" && /^\w{1,60}$/.test(name) ? name : "UNKNOWN";
}
