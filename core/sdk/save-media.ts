/** Stores a file of the platform, for `fetchMedia` of a channel. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ChannelError } from "../contract/index.ts";
import { sniff } from "../media/index.ts";

/** How many bytes of the beginning decide the type. */
const headBytes = 4_100;

function sizeOf(bytes: number): string {
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/**
 * The error of a file that is larger than `maxBytes`, for a size that is known before the download. The agent reads its
 * detail. Sizes are bytes.
 *
 * @example
 * if (Number(file.size) > maxBytes) throw mediaTooLarge(maxBytes, Number(file.size));
 */
export function mediaTooLarge(maxBytes: number, size?: number): ChannelError {
  const known = size === undefined ? "" : `${sizeOf(size)}, `;
  return new ChannelError("too_large", { detail: `the file is too large: ${known}at most ${sizeOf(maxBytes)}` });
}

/**
 * Streams a download into the folder `media` of the account's `directory`, under a random name with the extension of
 * its type, which is detected from the content. `mimeType` is the declared type, which only refines that. The next
 * piece is asked for when the one before is on the disk; reading stops at `maxBytes`. The file is readable by its owner
 * only, and a download that fails leaves none. Resolves with what `fetchMedia` returns. Rejects with a `ChannelError`
 * (`too_large`, `media_refused` for an empty file, `no_room`), or with the error of `pieces`.
 *
 * @example
 * async fetchMedia({ ref, mimeType }, { maxBytes, signal }) {
 *   const response = await fetch(ref, { headers, signal, redirect: "error" });
 *   if (!response.ok || response.body === null) throw refusedCall(response, { call: "file" });
 *   return await saveMedia(response.body, { directory: account.directory, maxBytes, mimeType });
 * },
 */
export async function saveMedia(
  pieces: AsyncIterable<Uint8Array>,
  {
    directory,
    maxBytes,
    mimeType,
  }: { readonly directory: string; readonly maxBytes: number; readonly mimeType?: string },
): Promise<{ readonly path: string; readonly mimeType: string; readonly size: number }> {
  const folder = join(directory, "media");
  const name = join(folder, randomBytes(16).toString("hex"));
  const part = `${name}.part`;
  let file: FileHandle | undefined;
  let size = 0;
  let head = Buffer.alloc(0);
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) throw mediaTooLarge(maxBytes);
      file ??= await create(folder, part);
      await file.writeFile(piece);
      if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)]);
    }
    if (file === undefined || size === 0) throw new ChannelError("media_refused", { detail: "the file is empty" });
    await file.close();
    const found = sniff(head, mimeType);
    const path = `${name}.${found.extension}`;
    await rename(part, path);
    return { path, mimeType: found.mimeType, size };
  } catch (error) {
    await file?.close().catch(() => {});
    if (file !== undefined) await rm(part, { force: true }).catch(() => {});
    const { code } = (error ?? {}) as { readonly code?: unknown };
    if (code === "ENOSPC" || code === "EDQUOT")
      throw new ChannelError("no_room", { detail: "there is no room on the disk", cause: error });
    throw error;
  }
}

/** Fails if the path exists, even as a link. */
async function create(folder: string, path: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0),
    0o600,
  );
}
