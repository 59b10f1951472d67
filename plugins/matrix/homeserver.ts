/** Calls to the homeserver: https://spec.matrix.org/latest/client-server-api/ */
import {
  type ChannelAccount,
  ChannelError,
  type Json,
  mediaTooLarge,
  refusedCall,
  unansweredCall,
} from "service-gateway/sdk/channel";
import { fetchLimited, fetchWhole, ResponseLimitError } from "service-gateway/sdk/reading";
import { isSafe, type Options, originOf } from "./options.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const string = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** A path below `/_matrix/` whose values are escaped: an id may contain any character. */
export const path = (texts: TemplateStringsArray, ...values: readonly string[]): string =>
  texts.reduce((whole, text, index) => `${whole}${encodeURIComponent(values[index - 1] ?? "")}${text}`);

export interface Call {
  /** What errors call it. */
  readonly name: string;
  readonly method?: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly file?: Blob;
  readonly signal?: AbortSignal | undefined;
  /** How long the homeserver waits before it answers, in milliseconds. */
  readonly waitsMs?: number;
}

export interface Homeserver {
  /** Where its API is, without a slash at the end. */
  root(signal?: AbortSignal): Promise<string>;
  /** Throws a `ChannelError`. */
  call(call: Call): Promise<Fields>;
  /** The answer to a download, whose body has not been read yet. */
  download(path: string, limits: { readonly maxBytes: number; readonly signal: AbortSignal }): Promise<Response>;
}

/** What the codes of the specification mean. The status decides about all others. */
const reasons: Readonly<Record<string, string>> = {
  M_UNKNOWN_TOKEN: "unauthorized",
  M_MISSING_TOKEN: "unauthorized",
  M_USER_DEACTIVATED: "unauthorized",
  M_USER_LOCKED: "unauthorized",
  M_USER_SUSPENDED: "unauthorized",
  M_FORBIDDEN: "no_rights",
  M_TOO_LARGE: "too_large",
  M_LIMIT_EXCEEDED: "flood_wait",
  M_UNRECOGNIZED: "method_unknown",
};

const hints: Readonly<Record<string, string>> = {
  M_UNKNOWN_TOKEN: "Sign in again with the same device_id, and set accessToken to the new token.",
  M_USER_LOCKED: "Ask the administrator of the homeserver to unlock the account of the bot.",
  M_USER_SUSPENDED: "Ask the administrator of the homeserver about the suspension of the account.",
};

/** The homeserver answered that it will not do this, or cannot. Without an answer, it may be away. */
export const isRefusal = (error: unknown): error is ChannelError =>
  error instanceof ChannelError &&
  (error.reason === "platform_error" || !error.retryable) &&
  error.reason !== "unauthorized";

/** A sync after a long absence contains much; all other answers are small. */
const maxBytes = 64 * 1_048_576;
const timeoutMs = 30_000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The code and the words of an answer that refuses a call. */
function refusal(answer: { readonly status: number; readonly headers: Headers; readonly text: string }, call: string) {
  const body = parsed(answer.text);
  const { errcode, error, soft_logout: softLogout } = record(body);
  const code = string(errcode);
  const ended = softLogout === true ? ", and the session can be continued" : "";
  return refusedCall(
    { ...answer, body: code === undefined ? undefined : body },
    {
      call,
      ...(code !== undefined && { reason: reasons[code], detail: `${code}: ${String(error).slice(0, 300)}${ended}` }),
      hint: hints[code ?? ""],
    },
  );
}

export function createHomeserver({ options, signal: closing, calling }: ChannelAccount<Options>): Homeserver {
  const { homeserver, accessToken } = options;
  const authorization = `Bearer ${accessToken}`;
  let found: Promise<string> | undefined;

  const unknown = (detail: string) => new ChannelError("homeserver_unknown", { retryable: true, detail });

  async function open(url: string, signal: AbortSignal | undefined) {
    const limits = { maxBytes: 1_048_576, timeoutMs: 15_000 };
    return await fetchWhole(url, { ...limits, signal: AbortSignal.any([closing, ...(signal ? [signal] : [])]) }).catch(
      (error: unknown) => {
        throw unansweredCall(error, { call: new URL(url).pathname });
      },
    );
  }

  /** By the file that a server name has for clients; an address without one is the homeserver's own. */
  async function discover(signal: AbortSignal | undefined): Promise<string> {
    const origin = originOf(homeserver) as URL;
    const file = await open(`${origin.origin}/.well-known/matrix/client`, signal);
    const named = file.ok ? string(record(record(parsed(file.text))["m.homeserver"]).base_url) : undefined;
    const base = named ?? origin.origin;
    if (!URL.canParse(base) || !isSafe(new URL(base)) || (origin.protocol === "https:" && !base.startsWith("https:")))
      throw unknown(`${origin.origin} names a homeserver whose address cannot be used`);
    const root = base.replace(/\/+$/, "");
    const versions = await open(`${root}/_matrix/client/versions`, signal);
    if (versions.status >= 500) throw refusal(versions, "versions");
    if (!Array.isArray(record(parsed(versions.text)).versions)) throw unknown(`${root} is not a Matrix homeserver`);
    return root;
  }

  async function root(signal?: AbortSignal): Promise<string> {
    found ??= discover(signal);
    const finding = found;
    return await finding.catch((error: unknown) => {
      if (found === finding) found = undefined;
      throw error;
    });
  }

  return {
    root,
    async call({ name, method = "GET", path: where, query = {}, body, file, signal: asked, waitsMs = 0 }) {
      const signal = AbortSignal.any([closing, ...(asked ? [asked] : [])]);
      const base = await root(asked);
      // `fetch` rejects in the same way before and after a request was sent.
      if (signal.aborted) throw new ChannelError("aborted", { retryable: true, detail: `${name}: not called` });
      const search = new URLSearchParams(query).toString();
      const done = calling();
      const answer = await fetchWhole(`${base}/_matrix/${where}${search && `?${search}`}`, {
        ...{ method, signal, maxBytes, timeoutMs: file === undefined ? timeoutMs + waitsMs : 300_000 },
        headers: {
          authorization,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(file !== undefined && { "content-type": file.type }),
        },
        ...((file ?? body) !== undefined && { body: file ?? JSON.stringify(body) }),
      }).catch((error: unknown) => {
        const isLarge = error instanceof ResponseLimitError && error.limit === "bytes";
        throw isLarge
          ? new ChannelError("bad_answer", {
              retryable: true,
              fate: "unknown",
              detail: `${name}: the answer is too large`,
            })
          : unansweredCall(error, { call: name });
      });
      const content = parsed(answer.text);
      if (!answer.ok || typeof content !== "object" || content === null) throw refusal(answer, name);
      done();
      return record(content);
    },
    async download(where, { maxBytes: most, signal }) {
      const base = await root(signal);
      const init = { headers: { authorization }, signal: AbortSignal.any([closing, signal]) };
      const limit = { maxBytes: most, fault: () => mediaTooLarge(most) };
      return await fetchLimited(`${base}/_matrix/${where}`, init, limit).catch((error: unknown) => {
        throw unansweredCall(error, { call: "media/download" });
      });
    },
  };
}
