/** Fetches the files of a message, with the platform's paths, waits and retries. */
import type { InboundMedia } from "service-gateway/sdk";
import { type ChannelConnection, ChannelError, mediaTooLarge, pause, saveMedia } from "service-gateway/sdk/channel";
import type { AccountOptions } from "./options.ts";
import type { Stickers } from "./stickers.ts";
import type { BotApi } from "./wire/api.ts";
import { createBackoff } from "./wire/backoff.ts";
import { wireError } from "./wire/platform-error.ts";
import type { Transport } from "./wire/transport.ts";
import { WireError } from "./wire/wire.ts";

type FetchMedia = NonNullable<ChannelConnection["fetchMedia"]>;
type FetchOptions = Parameters<FetchMedia>[1];
type Fetched = Awaited<ReturnType<FetchMedia>>;

export interface MediaOptions {
  readonly api: () => Promise<BotApi>;
  readonly transport: Transport;
  readonly token: string;
  readonly options: Pick<AccountOptions, "apiRoot" | "timeoutSeconds" | "retry">;
  /** The account's directory; the files are in its subdirectory `media`. */
  readonly directory: string;
  readonly stickers: Stickers;
}

/** Time limit for a whole file in milliseconds, unless `timeoutSeconds` is set. */
const downloadMs = 120_000;
/** If the platform demands a longer wait, in milliseconds, the message is answered without its file. */
const longestWaitMs = 30_000;

/** Converts a file's path to a URL path. Only plain paths are accepted. Error texts contain neither URL nor token. */
function pathOf(filePath: string | undefined): string {
  const segments = filePath?.split("/") ?? [];
  if (segments.length === 0 || segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw new ChannelError("media_refused", {
      detail: "the platform gave the file no path that can be fetched over HTTP",
    });
  }
  return segments.map(encodeURIComponent).join("/");
}

function toChannelError(thrown: unknown, maxBytes: number): unknown {
  if (!(thrown instanceof WireError)) return thrown;
  const { code } = thrown;
  if (code === "TOO_LARGE") return mediaTooLarge(maxBytes);
  if (code === "STATUS_404" || code === "STATUS_410")
    return new ChannelError("media_refused", { detail: "the file is gone" });
  const status = /^STATUS_(\d+)$/.exec(code)?.[1];
  if (status === undefined) return wireError("file", thrown);
  return new ChannelError("platform_error", {
    retryable: Number(status) >= 500,
    detail: `the platform answered ${status}`,
  });
}

export function createMedia({ api, transport, token, options, directory, stickers }: MediaOptions): FetchMedia {
  const root = options.apiRoot.replace(/\/+$/, "");
  const timeoutMs = options.timeoutSeconds === undefined ? downloadMs : options.timeoutSeconds * 1_000;

  async function attempt(media: InboundMedia, { maxBytes, signal }: FetchOptions): Promise<Fetched> {
    const file = await (await api()).call("getFile", { file_id: media.ref }, signal);
    if (file.file_size !== undefined && file.file_size > maxBytes) throw mediaTooLarge(maxBytes, file.file_size);
    const path = pathOf(file.file_path);
    const url = `${root}/file/bot${token}/${path}`;
    const save = (pieces: AsyncIterable<Buffer>) =>
      saveMedia(pieces, { directory, maxBytes, ...(media.mimeType !== undefined && { mimeType: media.mimeType }) });
    try {
      return await transport.download(url, { maxBytes, timeoutMs, signal, save });
    } catch (thrown) {
      throw toChannelError(thrown, maxBytes);
    }
  }

  /** Downloads a file and retries after any temporary failure, because downloading changes nothing. */
  async function persist(media: InboundMedia, how: FetchOptions): Promise<Fetched> {
    if (media.size !== undefined && media.size > how.maxBytes) throw mediaTooLarge(how.maxBytes, media.size);
    const { attempts, minDelayMs, maxDelayMs, jitter } = options.retry;
    const backoff = createBackoff({ minMs: minDelayMs, maxMs: maxDelayMs, jitter });
    for (let tried = 1; ; tried += 1) {
      try {
        return await attempt(media, how);
      } catch (thrown) {
        const wait =
          thrown instanceof ChannelError && thrown.retryable ? (thrown.retryAfterMs ?? backoff.next()) : undefined;
        if (wait === undefined || wait > longestWaitMs || tried >= attempts || how.signal.aborted) throw thrown;
        await pause(wait, how.signal);
      }
    }
  }

  /** Throws `ChannelError` with a text suitable for the agent. */
  return async (media, how) => {
    const fetched = await persist(media, how);
    if (media.kind !== "sticker" || fetched.mimeType !== "image/webp") return fetched;
    const description = await stickers.describe(media, async () => how.describe?.(fetched));
    return { ...fetched, ...(description !== undefined && { description }) };
  };
}
