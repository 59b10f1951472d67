/** Reads a secret that an option names: from a file, or from standard input. */
import { readFile } from "node:fs/promises";
import { text as readStream } from "node:stream/consumers";
import { HostError, reasonOf } from "../../contract/errors.ts";

export async function readSecretInput(option: string, file: string): Promise<string> {
  let text: string;
  try {
    text = (file === "-" ? await readStream(process.stdin) : await readFile(file, "utf8")).trim();
  } catch (thrown) {
    throw new HostError(
      "usage",
      { reason: `${option}: ${file} cannot be read: ${reasonOf(thrown)}` },
      { cause: thrown },
    );
  }
  if (text === "")
    throw new HostError("usage", { reason: `${option}: ${file === "-" ? "standard input" : file} is empty` });
  if (/\s/.test(text)) throw new HostError("usage", { reason: `${option}: ${file} contains more than one word` });
  return text;
}
