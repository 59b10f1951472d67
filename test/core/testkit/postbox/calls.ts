/** The calls of the platform in `platform.ts`, and what its failures mean. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";

export type Account = ChannelAccount<{ readonly url: string; readonly token: string; readonly patienceMs: number }>;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Call = (method: string, path: string, body?: object, signal?: AbortSignal) => Promise<Answer>;

/** The statuses that are answers, and no failures. */
const answers: ReadonlySet<number> = new Set([200, 304, 404]);

export function createCalls(account: Account): Call {
  const { url, token, patienceMs } = account.options;
  return async (method, path, body, signal = account.signal) => {
    const done = account.calling();
    const session = await account.secrets.get("session");
    let response: Response;
    try {
      response = await fetch(
        `${url}/${path}${path.includes("?") ? "&" : "?"}token=${token}${session === undefined ? "" : `&session=${session}`}`,
        {
          method,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
        },
      );
    } catch (error) {
      const refused = (error as { readonly cause?: { readonly code?: string } }).cause?.code === "ECONNREFUSED";
      throw new ChannelError("network", {
        retryable: true,
        fate: refused ? "not-sent" : "unknown",
        detail: "The postbox did not answer",
      });
    }
    const { status } = response;
    const text = await response.text();
    if (status === 429)
      throw new ChannelError("flood_wait", {
        retryable: true,
        retryAfterMs: Number(response.headers.get("retry-after")) * 1_000,
      });
    if (status === 401 && text.includes("session")) throw new ChannelError("sign_in_needed");
    if (status === 403) throw new ChannelError("blocked_by_user");
    if (!answers.has(status)) throw new ChannelError("platform_error", { detail: `The postbox answered ${status}` });
    done();
    return { status, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) };
  };
}
