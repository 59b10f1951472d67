/** Detects changes of a configuration file. Separate from loading, which most commands do not need. */
import { createHash } from "node:crypto";

/** A digest of the content, so that touching the file is not a change. */
export function digestOf(text: string | undefined): string {
  return text === undefined ? "" : createHash("sha256").update(text).digest("hex");
}
