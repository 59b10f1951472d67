/**
 * Downloads a file of the platform to a local file. It is streamed, so that it is never held in memory as a whole, and
 * aborted at the size limit.
 */
import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { Dispatcher } from "undici";
import { codeOf, type Stoppable, WireError } from "./wire.ts";

/** How many bytes of the beginning are returned, for detecting the type. */
const headBytes = 4_100;

export interface DownloadOptions {
  /** Path of the file to create. It must not exist yet. A failed download leaves no file. */
  readonly to: string;
  readonly maxBytes: number;
  /** Time limit for the whole download, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: Stoppable;
}

export interface Downloaded {
  readonly size: number;
  /** The first bytes of the file. */
  readonly head: Buffer;
}

/** Creates a new file. Fails if the path already exists, even as a link. */
function create(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0), 0o600);
}

/** Receives the body in pieces. The next piece is requested after the previous one has been written to disk. */
function receive(
  dispatcher: Dispatcher,
  url: URL,
  options: DownloadOptions,
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

/** Downloads a file. Rejects only with `WireError`, and leaves no file then. */
export async function download(dispatcher: Dispatcher, url: URL, options: DownloadOptions): Promise<Downloaded> {
  if (options.signal?.aborted === true) throw new WireError("ABORTED", false);
  let file: FileHandle | undefined;
  const { pieces, stop } = receive(dispatcher, url, options);
  const onAbort = () => stop("ABORTED");
  // The client's own limits detect silence. This one stops a server that sends very slowly.
  const timer = setTimeout(() => stop("TIMEOUT"), options.timeoutMs);
  options.signal?.addEventListener("abort", onAbort);
  let size = 0;
  let head = Buffer.alloc(0);
  try {
    for await (const piece of pieces) {
      file ??= await create(options.to);
      await file.writeFile(piece);
      size += piece.length;
      if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)]);
    }
    if (file === undefined) throw new WireError("EMPTY", true);
    await file.close();
    return { size, head };
  } catch (thrown) {
    const error = thrown instanceof WireError ? thrown : new WireError(codeOf(thrown), true);
    stop(error.code);
    if (file !== undefined) {
      await file.close().catch(() => {});
      await rm(options.to, { force: true }).catch(() => {});
    }
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}
