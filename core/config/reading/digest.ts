/** Whether the text of a configuration file is another one; apart from reading it, which most commands do without. */
import { createHash } from "node:crypto";

/** Content, not time: touching a file changes nothing. */
export function digestOf(text: string | undefined): string {
  return text === undefined ? "" : createHash("sha256").update(text).digest("hex");
}
