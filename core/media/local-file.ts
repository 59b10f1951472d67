/**
 * Files of this machine that an agent may send: of its workspace, and those that came with messages. Nothing else, whatever it is called.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, relative, resolve, sep } from "node:path";
import { ChannelError } from "../contract/index.ts";

export interface Roots {
  /** Of the agent; none: it may send nothing but what came with messages. */
  readonly workspace?: string;
  readonly stateDirectory: string;
  /** Files that are never sent, wherever they lie: the configuration. */
  readonly secret: readonly string[];
}

export interface LocalFile {
  readonly handle: FileHandle;
  /** Without links. */
  readonly path: string;
  readonly size: number;
  /** It lies where files of messages lie: its name there cannot be guessed, and it never changes. */
  readonly kept: boolean;
}

function refused(path: string, why: string): ChannelError {
  return new ChannelError("media_refused", {
    detail: `${basename(path)} may not be sent: ${why}; put what is to be sent into the agent's workspace`,
  });
}

const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

/** The way from a directory down to a path, by its names; `undefined`: it does not lie in it. */
function below(directory: string | undefined, path: string): readonly string[] | undefined {
  if (directory === undefined) return undefined;
  const way = relative(directory, path);
  if (way === "" || isAbsolute(way) || way.split(sep)[0] === "..") return undefined;
  return way.split(sep);
}

/** `<channel>/<account>/media/<file>` of the state; the rest of it is the gateway's own. */
function isKept(way: readonly string[]): boolean {
  return way.length === 4 && way[2] === "media";
}

/** Hidden files and keys are never sent, also where every other file may be. */
function isHidden(way: readonly string[]): boolean {
  return way.some((name) => name.startsWith(".")) || /\.(?:key|pem|p12|pfx)$/i.test(way.at(-1) ?? "");
}

async function judge(path: string, { workspace, stateDirectory, secret }: Roots): Promise<"kept" | "workspace"> {
  const [work, state, ...hidden] = await Promise.all([
    workspace === undefined ? undefined : real(workspace),
    real(stateDirectory),
    ...secret.map(real),
  ]);
  const inState = below(state, path);
  if (inState !== undefined && isKept(inState)) return "kept";
  const inWork = below(work, path);
  if (inWork === undefined) throw refused(path, "it lies neither in the workspace nor among the files of messages");
  // A workspace may lie in the state, and the state in a workspace: then what is the gateway's own stays so.
  const workInState = work !== undefined && below(state, work) !== undefined;
  if ((inState !== undefined && !workInState) || hidden.includes(path)) throw refused(path, "it is the gateway's own");
  if (isHidden(inWork)) throw refused(path, "hidden files and keys are not sent");
  return "workspace";
}

/**
 * Opens a file that may be sent; the caller closes the handle. A relative path is meant from the workspace. What was judged is what is
 * open: a link that is put into its place meanwhile is seen.
 */
export async function openAllowed(given: string, roots: Roots): Promise<LocalFile> {
  const path = await real(resolve(roots.workspace ?? roots.stateDirectory, given));
  if (path === undefined) {
    throw new ChannelError("media_missing", { detail: `there is no file ${basename(given)}: name its path in the agent's workspace` });
  }
  const kind = await judge(path, roots);
  // Without waiting: opening a pipe would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(
    (error: unknown) => {
      throw refused(path, `it cannot be opened (${String((error as { code?: unknown }).code)})`);
    },
  );
  try {
    const [opened, there, again] = await Promise.all([handle.stat(), stat(path), real(path)]);
    if (!opened.isFile()) throw refused(path, "it is not a regular file");
    if (again !== path || there.ino !== opened.ino || there.dev !== opened.dev) throw refused(path, "it has just been replaced");
    return { handle, path, size: opened.size, kept: kind === "kept" };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
