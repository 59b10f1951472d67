/** Decides which local files an agent may send: those in its workspace, and those that came with messages. */
import { type FileHandle, realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { ChannelError } from "../contract/index.ts";
import { FileRefused, openReal, pathBelow } from "./workspace-file.ts";

export interface Roots {
  /** The agent's workspace. If absent, the agent may only send files that came with messages. */
  readonly workspace?: string;
  readonly stateDirectory: string;
  /** Files that are never sent, wherever they are, such as the configuration. */
  readonly secret: readonly string[];
}

export interface LocalFile {
  readonly handle: FileHandle;
  /** The path with all links resolved. */
  readonly path: string;
  readonly size: number;
  /** True for a file that came with a message: its name cannot be guessed, and its content never changes. */
  readonly isInbound: boolean;
}

function refused(path: string, why: string): ChannelError {
  return new ChannelError("media_refused", {
    detail: `${basename(path)} may not be sent: ${why}; put files to send into the agent's workspace`,
  });
}

const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined);

const below = (directory: string | undefined, path: string) =>
  directory === undefined ? undefined : pathBelow(directory, path);

/** Matches `<channel>/<account>/media/<file>` in the state directory. Everything else there belongs to the gateway. */
function isInboundFile(way: readonly string[]): boolean {
  return way.length === 4 && way[2] === "media";
}

/** Hidden files and keys are never sent, even from an allowed directory. */
function isHidden(way: readonly string[]): boolean {
  return way.some((name) => name.startsWith(".")) || /\.(?:key|pem|p12|pfx)$/i.test(way.at(-1) ?? "");
}

async function judge(path: string, { workspace, stateDirectory, secret }: Roots): Promise<"inbound" | "workspace"> {
  const [work, state, ...hidden] = await Promise.all([
    workspace === undefined ? undefined : real(workspace),
    real(stateDirectory),
    ...secret.map(real),
  ]);
  const inState = below(state, path);
  if (inState !== undefined && isInboundFile(inState)) return "inbound";
  const inWork = below(work, path);
  if (inWork === undefined) throw refused(path, "it is neither in the workspace nor among the files of messages");
  // The workspace may be inside the state directory, or contain it. The gateway's own files are protected in both
  // cases.
  const workInState = work !== undefined && below(state, work) !== undefined;
  if ((inState !== undefined && !workInState) || hidden.includes(path)) throw refused(path, "it is the gateway's own");
  if (isHidden(inWork)) throw refused(path, "hidden files and keys are not sent");
  return "workspace";
}

/**
 * Opens a file that may be sent; the caller closes the handle. Relative paths start at the workspace. A link is what it
 * leads to, and a file with a second name (a hard link) is refused.
 */
export async function openAllowed(given: string, roots: Roots): Promise<LocalFile> {
  const path = await real(resolve(roots.workspace ?? roots.stateDirectory, given));
  if (path === undefined) {
    throw new ChannelError("media_missing", {
      detail: `there is no file ${basename(given)}: name its path in the agent's workspace`,
    });
  }
  const kind = await judge(path, roots);
  try {
    return { ...(await openReal(path)), path, isInbound: kind === "inbound" };
  } catch (error) {
    throw error instanceof FileRefused ? refused(path, error.message) : error;
  }
}
