/**
 * Stores a large file that a model has generated as soon as it arrives, so that it does not travel through the stations
 * in memory.
 */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Address, OutboundMedia } from "../contract/index.ts";
import { headBytes } from "./guarded-fetch.ts";
import { mostDataBytes } from "./outbound.ts";
import { sniff } from "./sniff.ts";

/**
 * Resolves with the file in the directory of the recipient's files; a small one, or one that cannot be stored, stays as
 * it is.
 */
export type KeepGenerated = (media: OutboundMedia, to: Address | null) => Promise<OutboundMedia>;

/** Whether a file is too large to be sent as `data`. */
const isLarge = ({ data = "" }: OutboundMedia): boolean => data.length > (mostDataBytes * 4) / 3;

export function createGeneratedFiles({
  stateDirectory,
  maxBytes,
}: {
  readonly stateDirectory: string;
  readonly maxBytes: (to: Address) => number;
}): KeepGenerated {
  return async (media, to) => {
    const { data, ...rest } = media;
    if (data === undefined || to === null || !isLarge(media)) return media;
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > maxBytes(to)) return media;
    const { extension } = sniff(bytes.subarray(0, headBytes), media.mimeType);
    const folder = join(stateDirectory, to.channel, to.account, "media");
    const path = join(folder, `${randomBytes(16).toString("hex")}.${extension}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
    } catch {
      // The reply then mentions the missing file, as it does for every file that cannot be prepared.
      return media;
    }
    return { ...rest, path, fileName: media.fileName ?? `file.${extension}` };
  };
}
