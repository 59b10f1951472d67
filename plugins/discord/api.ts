/** The calls of the REST API, and what each failure means. See https://discord.com/developers/docs/reference. */
import { openAsBlob } from "node:fs";
import { type ChannelAccount, ChannelError, refusedCall, unansweredCall } from "service-gateway/sdk/channel";
import { fetchWhole, type WholeResponse } from "service-gateway/sdk/reading";
import { number, record, text } from "./fields.ts";
import { type Hosts, hostsOf, type Options } from "./options.ts";
import { createRateLimits, type RateLimits, routeOf } from "./rate-limits.ts";

/** A file that a message is sent with. */
export type SentFile = { readonly path: string; readonly name: string; readonly mimeType: string };

export interface Call {
  readonly body?: unknown;
  readonly files?: readonly SentFile[];
  readonly signal?: AbortSignal;
  /** The limits have been waited for in `admit`. */
  readonly isAdmitted?: boolean;
}

export interface Api {
  readonly hosts: Hosts;
  readonly limits: RateLimits;
  /** Resolves with the answer's JSON, `undefined` if it has none. `path` begins with a slash. */
  call(method: "DELETE" | "GET" | "PATCH" | "POST" | "PUT", path: string, call?: Call): Promise<unknown>;
}

/** The reasons of the platform's own codes. See https://discord.com/developers/docs/topics/opcodes-and-status-codes. */
const reasons: Readonly<Record<number, string>> = {
  10003: "chat_not_found",
  10004: "chat_not_found",
  10008: "message_gone",
  10013: "chat_not_found",
  10015: "interaction_expired",
  10062: "interaction_expired",
  20016: "flood_wait",
  20028: "flood_wait",
  40005: "too_large",
  40060: "interaction_expired",
  50001: "no_rights",
  50005: "message_gone",
  50007: "blocked_by_user",
  50008: "chat_not_found",
  50013: "no_rights",
  50027: "interaction_expired",
  50033: "chat_not_found",
  50083: "thread_gone",
  160002: "no_rights",
};

const patienceMs = 30_000;
/** A file of 10 MiB takes a while. */
const filePatienceMs = 300_000;
/** The largest answer is a hundred messages. */
const maxBytes = 8 * 1_048_576;

export function createApi({
  options,
  signal: closing,
  calling,
  now,
}: Pick<ChannelAccount<Options>, "options" | "signal" | "calling" | "now">): Api {
  const hosts = hostsOf(options);
  const limits = createRateLimits(now);
  const headers = {
    authorization: `Bot ${options.token}`,
    // The form that the platform asks for; it refuses others.
    "user-agent": "DiscordBot (https://www.npmjs.com/package/service-gateway, 1.0.0)",
  };

  async function request(method: string, path: string, { body, files = [], signal }: Call): Promise<WholeResponse> {
    const answered = calling();
    const isJson = files.length === 0;
    const response = await fetchWhole(`${hosts.apiRoot}${path}`, {
      method,
      headers: { ...headers, ...(isJson && body !== undefined && { "content-type": "application/json" }) },
      ...(isJson ? body !== undefined && { body: JSON.stringify(body) } : { body: await formOf(body, files) }),
      signal: signal ?? closing,
      timeoutMs: isJson ? patienceMs : filePatienceMs,
      maxBytes,
    });
    if (response.ok) answered();
    return response;
  }

  return {
    hosts,
    limits,
    async call(method, path, call = {}) {
      const route = routeOf(method, path);
      const name = route.kind;
      const signal = call.signal === undefined ? closing : AbortSignal.any([call.signal, closing]);
      if (call.isAdmitted !== true || limits.delay(route) > 0) await limits.take(route, signal);
      if (signal.aborted) throw new ChannelError("aborted", { retryable: true, detail: `${name}: given up` });
      const response = await request(method, path, { ...call, signal }).catch((error: unknown) => {
        throw error instanceof ChannelError ? error : unansweredCall(error, { call: name });
      });
      const body = parse(response.text);
      limits.answered(route, { ...response, body });
      if (response.ok && (body !== undefined || response.status === 204)) return body;
      throw errorOf({ ...response, body }, name);
    },
  };
}

function errorOf(answer: Pick<WholeResponse, "status" | "headers"> & { readonly body: unknown }, call: string) {
  const code = number(record(answer.body)?.code) ?? 0;
  const words = text(record(answer.body)?.message);
  const reason = reasons[code];
  return refusedCall(answer, {
    call,
    ...(reason !== undefined && { reason }),
    ...(words !== undefined && { detail: `${words.slice(0, 200)}${code === 0 ? "" : ` (${code})`}` }),
  });
}

/** `undefined` for what is not the platform's, such as the page of a proxy. */
function parse(words: string): unknown {
  try {
    return JSON.parse(words);
  } catch {
    return undefined;
  }
}

/** A message with files. They are read from the disk while they are sent. */
async function formOf(body: unknown, files: readonly SentFile[]): Promise<FormData> {
  const form = new FormData();
  const attachments = files.map(({ name }, index) => ({ id: index, filename: name }));
  form.set("payload_json", JSON.stringify({ ...record(body), attachments }));
  for (const [index, { path, name, mimeType }] of files.entries()) {
    const blob = await openAsBlob(path, { type: mimeType }).catch((error: unknown) => {
      throw new ChannelError("media_unavailable", { detail: "a file of the message cannot be read", cause: error });
    });
    form.set(`files[${index}]`, blob, name);
  }
  return form;
}
