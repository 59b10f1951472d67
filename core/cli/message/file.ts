/** A file of this machine that is to be sent: the gateway sends what lies in its state, so it goes there first. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { HostError, reasonOf } from "../../errors.ts";
import type { CommandContext } from "../context.ts";

export async function keepFile(
  media: string,
  { context, channel, account }: { readonly context: CommandContext; readonly channel: string; readonly account: string },
): Promise<{ readonly media: string; readonly fileName?: string }> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(media)) return { media };
  const source = resolve(media);
  // Where files of messages lie, which are removed after seven days.
  const directory = join(await context.stateDirectory(), channel, account, "media");
  const kept = join(directory, `${randomBytes(12).toString("hex")}${extname(source).slice(0, 16)}`);
  try {
    if (!(await stat(source)).isFile()) throw new Error("it is no file");
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await copyFile(source, kept, constants.COPYFILE_EXCL);
  } catch (error) {
    throw new HostError("usage", { reason: `--media: ${source} cannot be sent: ${reasonOf(error)}` });
  }
  return { media: kept, fileName: basename(source) };
}
