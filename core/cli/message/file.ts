/**
 * A local file that is to be sent. The gateway sends files in its state directory only, so the file is copied there
 * first.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, copyFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { makeDirectory, ownLike } from "../../state/directory.ts";
import type { CommandContext } from "../context.ts";

const isAddress = (media: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(media);
const cannotBeSent = (source: string, error: unknown) =>
  new HostError("usage", { reason: `--media: ${source} cannot be sent: ${reasonOf(error)}` });

/** Only checks, for a dry run: throws the same errors as `keepFile`. */
export async function checkFile(media: string): Promise<void> {
  if (isAddress(media)) return;
  const source = resolve(media);
  try {
    if (!(await stat(source)).isFile()) throw new Error("it is not a file");
    await access(source, constants.R_OK);
  } catch (error) {
    throw cannotBeSent(source, error);
  }
}

export async function keepFile(
  media: string,
  {
    context,
    channel,
    account,
  }: { readonly context: CommandContext; readonly channel: string; readonly account: string },
): Promise<{ readonly media: string; readonly fileName?: string }> {
  await checkFile(media);
  if (isAddress(media)) return { media };
  const source = resolve(media);
  // The directory of message files, which are removed after seven days.
  const directory = join(await context.stateDirectory(), channel, account, "media");
  const copy = join(directory, `${randomBytes(12).toString("hex")}${extname(source).slice(0, 16)}`);
  try {
    makeDirectory(directory);
    await copyFile(source, copy, constants.COPYFILE_EXCL);
    ownLike(copy, await stat(directory));
  } catch (error) {
    throw cannotBeSent(source, error);
  }
  return { media: copy, fileName: basename(source) };
}
