/** Reads the text of a configuration file. */
import { type FileHandle, open } from "node:fs/promises";
import { HostError, reasonOf } from "../../contract/index.ts";

/** Larger files are rejected, because they cannot have been written by hand. */
const maxFileBytes = 4 * 1024 * 1024;

/** The file's text; `undefined` if it does not exist. */
export async function readConfigText(file: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, "r");
    const { size } = await handle.stat();
    if (size > maxFileBytes) throw new Error(`it is larger than ${maxFileBytes} bytes`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const encoding = (thrown as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA";
    throw new HostError(
      "config_unreadable",
      { file, reason: encoding ? "it is not UTF-8" : reasonOf(thrown) },
      { cause: thrown },
    );
  } finally {
    await handle?.close();
  }
}
