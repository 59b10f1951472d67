/**
 * Requests to servers that the operator, or a plugin, has chosen. Each response is read within a limit; see
 * `guarded-fetch.ts` for addresses of others.
 */
import { LimitedBody, ResponseLimitError } from "./body-limit.ts";

/**
 * A request, and what its response may have. `redirect` is `error` unless it is set: a request usually has credentials
 * for one host.
 *
 * @example
 * await fetchWhole("https://example.org/token", { method: "POST", body: form, maxBytes: 100_000, timeoutMs: 20_000 });
 */
export interface BoundedRequest extends Omit<RequestInit, "signal"> {
  /** The most that the body may have, in bytes, after it was unpacked. */
  readonly maxBytes: number;
  /** The longest time from the request to the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A response whose body has arrived, as `fetchWhole` returns it.
 *
 * @example
 * const { status, text } = await fetchWhole(url, { maxBytes: 100_000, timeoutMs: 20_000 });
 */
export interface WholeResponse {
  readonly status: number;
  /** Whether the status is 200 to 299. */
  readonly ok: boolean;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
}

/**
 * Sends a request and reads the whole response. Resolves with any status. Rejects with `ResponseLimitError` for a body
 * that is too large or too late, with the reason of `signal` if that aborts, and otherwise with the error of `fetch`.
 *
 * @example
 * const limits = { maxBytes: 1_048_576, timeoutMs: 30_000 };
 * const { ok, text } = await fetchWhole("https://api.example.org/me", { headers, ...limits });
 */
export async function fetchWhole(
  url: string | URL,
  { maxBytes, timeoutMs, signal, ...init }: BoundedRequest,
): Promise<WholeResponse> {
  const { host } = new URL(url);
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: init.redirect ?? "error",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const body = new LimitedBody(maxBytes);
    // Leaving the loop cancels the body, which closes the connection.
    for await (const piece of response.body ?? [])
      if (!body.add(piece)) throw new ResponseLimitError(host, "bytes", maxBytes);
    const bytes = body.bytes();
    return { status: response.status, ok: response.ok, headers: response.headers, bytes, text: bytes.toString("utf8") };
  } catch (error) {
    if (late.aborted && signal?.aborted !== true) throw new ResponseLimitError(host, "time", timeoutMs);
    throw error;
  }
}

/**
 * `fetch` for libraries that read the response themselves, and for streams: reading beyond `maxBytes` fails with
 * `ResponseLimitError`, or with the error that `fault` returns. A stream of events (`text/event-stream`) may have no
 * end, so the limit applies to each event. The time is not limited: give `init` a signal.
 *
 * @example
 * const response = await fetchLimited(url, { signal }, { maxBytes: 32 * 1_048_576 });
 */
export async function fetchLimited(
  input: string | URL | Request,
  init: RequestInit,
  { maxBytes, fault }: { readonly maxBytes: number; readonly fault?: (host: string) => Error },
): Promise<Response> {
  const { host } = new URL(input instanceof Request ? input.url : input);
  const response = await fetch(input, { ...init, redirect: init.redirect ?? "error" });
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  let left = maxBytes;
  let endsLine = false;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  // Reads only when it is asked: a pipe would go on reading while its reader pauses for the rest of the process.
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        // An empty line ends an event, and may fall between two pieces.
        const end = isStream ? endOfEvent(value, endsLine) : -1;
        endsLine = isLineEnd(value.at(-1));
        left = end < 0 ? left - value.byteLength : maxBytes - (value.byteLength - end);
        if (left >= 0) return controller.enqueue(value);
        const error = fault?.(host) ?? new ResponseLimitError(host, "bytes", maxBytes);
        await reader.cancel(error).catch(() => undefined);
        controller.error(error);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(counted, response);
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

/** The position behind the last empty line; -1 if there is none. `endsLine`: the piece before ended with a line end. */
function endOfEvent(piece: Uint8Array, endsLine: boolean): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  const ends = ["\n\n", "\r\n\r\n", "\r\r"].map((line) => {
    const at = bytes.lastIndexOf(line);
    return at < 0 ? -1 : at + line.length;
  });
  return Math.max(...ends, endsLine && isLineEnd(bytes[0]) ? 1 : -1);
}
