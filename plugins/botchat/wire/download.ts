/** Downloads a file of the platform in pieces, so that it is never held in memory as a whole. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Dispatcher } from "undici";
import { codeOf, type Stoppable, WireError } from "./wire.ts";

export interface DownloadOptions<T> {
  readonly maxBytes: number;
  /** Time limit for the whole download, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: Stoppable;
  /** Stores the pieces, and removes what it has stored if they end with an error. */
  save(pieces: AsyncIterable<Buffer>): Promise<T>;
}

/** Receives the body in pieces. The next piece is requested after the previous one has been written to disk. */
function receive(
  dispatcher: Dispatcher,
  url: URL,
  options: Omit<DownloadOptions<unknown>, "save">,
): { readonly pieces: AsyncIterable<Buffer>; stop(code: string): void } {
  const waiting: Buffer[] = [];
  let control: Dispatcher.DispatchController | undefined;
  let failure: WireError | undefined;
  let ended = false;
  let size = 0;
  let wake = () => {};
  const stop = (code: string) => {
    if (failure !== undefined || ended) return;
    failure = new WireError(code, control !== undefined);
    control?.abort(failure);
    wake();
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      if (failure === undefined) control = controller;
      else controller.abort(failure);
    },
    onResponseStart(_controller, status, headers) {
      if (status !== 200) stop(`STATUS_${status}`);
      else if (Number(headers["content-length"]) > options.maxBytes) stop("TOO_LARGE");
    },
    onResponseData(controller, chunk) {
      // A resumed parser first emits an empty piece. Pausing for that one would never end.
      if (chunk.length === 0) return;
      size += chunk.length;
      if (size > options.maxBytes) return stop("TOO_LARGE");
      waiting.push(Buffer.from(chunk));
      controller.pause();
      wake();
    },
    onResponseEnd() {
      ended = true;
      wake();
    },
    onResponseError(_controller, error) {
      stop(codeOf(error));
    },
  };
  const { timeoutMs } = options;
  try {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: "GET",
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      },
      handler,
    );
  } catch (thrown) {
    stop(codeOf(thrown));
  }
  async function* pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      if (failure !== undefined) throw failure;
      const piece = waiting.shift();
      if (piece !== undefined) {
        yield piece;
        control?.resume();
      } else if (ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return { pieces: pieces(), stop };
}

/** Downloads a file. Rejects with `WireError`, or with the error of `save` if that has a meaning of its own. */
export async function download<T>(dispatcher: Dispatcher, url: URL, options: DownloadOptions<T>): Promise<T> {
  if (options.signal?.aborted === true) throw new WireError("ABORTED", false);
  const { pieces, stop } = receive(dispatcher, url, options);
  const onAbort = () => stop("ABORTED");
  // The client's own limits detect silence. This one stops a server that sends very slowly.
  const timer = setTimeout(() => stop("TIMEOUT"), options.timeoutMs);
  options.signal?.addEventListener("abort", onAbort);
  try {
    return await options.save(pieces);
  } catch (thrown) {
    stop(codeOf(thrown));
    throw thrown instanceof WireError || thrown instanceof ChannelError ? thrown : new WireError(codeOf(thrown), true);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}
