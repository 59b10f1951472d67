/**
 * Opens files of a directory in which others can write, such as an agent's workspace. A link must not lead out of it:
 * an agent, or a program that it uses, could make the gateway read any file of its user.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

/** Why a file is not opened, as the end of a sentence about it. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

/** The path components below a directory; `undefined` if the path is not inside it. Both are real paths. */
export function pathBelow(directory: string, path: string): readonly string[] | undefined {
  const way = relative(directory, path);
  if (way === "" || isAbsolute(way) || way.split(sep)[0] === "..") return undefined;
  return way.split(sep);
}

/**
 * Opens a real path; the caller closes the handle. The opened file is verified to be the one at that path, so that a
 * link created meanwhile is detected. A file with a second name (a hard link) is refused, because the other name may be
 * anywhere. Throws `FileRefused`.
 */
export async function openReal(path: string): Promise<{ readonly handle: FileHandle; readonly size: number }> {
  // Non-blocking, because opening a pipe would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(
    (error: unknown) => {
      throw new FileRefused(`it cannot be opened (${String((error as { code?: unknown }).code)})`);
    },
  );
  try {
    const [opened, there, again] = await Promise.all([handle.stat(), stat(path), realpath(path)]);
    if (!opened.isFile()) throw new FileRefused("it is not a regular file");
    if (again !== path || there.ino !== opened.ino || there.dev !== opened.dev)
      throw new FileRefused("it has just been replaced");
    if (opened.nlink > 1) throw new FileRefused("it has more than one name (a hard link); copy it instead");
    return { handle, size: opened.size };
  } catch (error) {
    await handle.close();
    throw error instanceof FileRefused ? error : new FileRefused("it has just been replaced");
  }
}

/**
 * Reads the beginning of a text file in a directory, at most `maxBytes`. `undefined` if there is no such file. Throws
 * `FileRefused` for a link that leads out of the directory, and for what `openReal` refuses.
 */
export async function readInside(directory: string, file: string, maxBytes: number): Promise<string | undefined> {
  const [root, path] = await Promise.all([directory, file].map((one) => realpath(one).catch(() => undefined)));
  if (root === undefined || path === undefined) return undefined;
  if (pathBelow(root, path) === undefined) throw new FileRefused("a link leads out of the workspace");
  const { handle } = await openReal(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
