/** `tokens rotate`: replaces a token; the old one stays valid for a time. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseDuration } from "../config/duration.ts";
import { editConfig } from "../config/editing/edit.ts";
import { expandPath } from "../config/expand-path.ts";
import { digestOf } from "../config/reading/digest.ts";
import { readConfigText } from "../config/reading/file.ts";
import type { LoadedConfig } from "../config/reading/load.ts";
import { createSecrets } from "../config/secrets.ts";
import { programCommand } from "../contract/command.ts";
import { HostError, reasonOf } from "../contract/errors.ts";
import { writeWhole } from "../state/directory.ts";
import type { CommandContext } from "./context.ts";
import { renderClock } from "./output/times.ts";
import type { RunningGateway } from "./running-gateway.ts";

interface Options {
  readonly keep: string;
  readonly json?: boolean;
}

/**
 * Where the token is written. `file`: the file that the configuration names, or the generated token in the state
 * directory.
 */
type Source = { readonly in: "config" } | { readonly in: "file"; readonly file: string };

interface Rotation {
  readonly path: string;
  readonly previousPath: string;
  readonly old: string;
  readonly source: Source;
}

const paths = {
  hooks: { path: "hooks.token", previousPath: "hooks.previousToken" },
  gateway: { path: "gateway.auth.token", previousPath: "gateway.auth.previousToken" },
} as const;

const tokenBytes = 32;
const longestKeepMs = 365 * 86_400_000;
/** The gateway checks its file at least every two seconds. */
const patienceMs = 10_000;

export async function rotateToken(
  context: CommandContext,
  [which]: readonly [string],
  options: Options,
): Promise<number> {
  if (which !== "hooks" && which !== "gateway")
    throw new HostError("usage", { reason: `"${which}" is neither hooks nor gateway` });
  const keepMs = parseDuration(options.keep);
  if (keepMs === undefined || keepMs > longestKeepMs) {
    throw new HostError("usage", {
      reason: `--keep is a time such as 30m, 24h or 7d, at most 365d, or 0; not "${options.keep}"`,
    });
  }
  const loaded = await context.load();
  const rotation = readRotation(which, loaded, { context, stateDirectory: await context.stateDirectory() });
  // Found before anything changes, with the old token: it either stays valid, or its refusal shows that the change has
  // taken effect.
  const gateway = await context.gateway();
  const token = randomBytes(tokenBytes).toString("base64url");
  const until = keepMs === 0 ? undefined : new Date(context.now() + keepMs);
  await write(context, rotation, { token, until });
  const inForce =
    gateway === null
      ? undefined
      : await isTakenOver(gateway, context.configFile.file, { oldEnded: until === undefined });
  const { source, path } = rotation;
  if (options.json === true) {
    context.terminal.json({
      path,
      ...source,
      token,
      validUntil: until?.toISOString() ?? null,
      inForce: inForce ?? null,
    });
    return inForce === false ? 1 : 0;
  }
  const { terminal } = context;
  terminal.line(`${path} is a new token${source.in === "file" ? `, in ${source.file}` : ""}:`);
  terminal.line(`  ${token}`);
  terminal.line(
    until === undefined
      ? "The old one is no longer valid."
      : `The old one stays valid until ${renderClock(until.getTime())}; give the new one to its clients before that.`,
  );
  if (inForce === true) terminal.line("The running gateway accepts the new one.");
  if (inForce === undefined) terminal.line("No gateway is running on this state; the next start reads it.");
  if (inForce === false)
    terminal.note(`The running gateway has not applied the change: \`${programCommand} logs --level warn\` shows why.`);
  return inForce === false ? 1 : 0;
}

function readRotation(
  which: keyof typeof paths,
  { config, directory, found }: LoadedConfig,
  { context, stateDirectory }: { readonly context: CommandContext; readonly stateDirectory: string },
): Rotation {
  const { path, previousPath } = paths[which];
  const setting: unknown = which === "hooks" ? config.hooks.token : config.gateway.auth.token;
  if (setting === undefined) {
    const file = join(stateDirectory, "gateway-token");
    if (which === "hooks" || !existsSync(file)) throw new HostError("token_none", { path });
    return { path, previousPath, old: readFileSync(file, "utf8").trim(), source: { in: "file", file } };
  }
  if (!found) throw new HostError("token_none", { path });
  const named = setting as { readonly env?: string; readonly file?: string };
  if (typeof setting === "object" && named.env !== undefined) {
    throw new HostError("token_from_environment", { path, previous: previousPath, variable: named.env });
  }
  const old = createSecrets({ env: context.env, directory }).resolve(setting, path);
  const source: Source =
    typeof setting === "string"
      ? { in: "config" }
      : { in: "file", file: expandPath(named.file ?? "", directory, context.home) };
  return { path, previousPath, old, source };
}

/**
 * The old token is recorded before the new one replaces it, so that one of the two is valid if the command is
 * interrupted. If the token is in a file, the configuration is edited last, because the gateway reads the file again
 * when the configuration changes.
 */
async function write(
  { configFile, env, now }: CommandContext,
  { path, previousPath, old, source }: Rotation,
  { token, until }: { readonly token: string; readonly until: Date | undefined },
): Promise<void> {
  const set = (at: string, value: unknown) => editConfig(configFile.file, at, value, { env });
  if (source.in === "config") {
    await set(previousPath, until === undefined ? undefined : { token: old, until: until.toISOString() });
    await set(path, token);
    return;
  }
  const previous = `${source.file}.previous`;
  try {
    const file = realpathSync(source.file);
    // The gateway may run as another user, and reads both.
    const like = statSync(file);
    writeWhole(previous, `${old}\n`, like);
    writeWhole(file, `${token}\n`, like);
  } catch (thrown) {
    throw new HostError("token_not_written", { file: source.file, reason: reasonOf(thrown) }, { cause: thrown });
  }
  // Needed even if the old token ends at once: without an edit the gateway would not read the file again.
  await set(previousPath, { token: { file: previous }, until: (until ?? new Date(now())).toISOString() });
}

/**
 * Whether the gateway runs with the current file. The call uses the old token: if that has ended, a refusal is the
 * answer.
 */
async function isTakenOver(
  gateway: RunningGateway,
  file: string,
  { oldEnded }: { readonly oldEnded: boolean },
): Promise<boolean> {
  const wanted = digestOf(await readConfigText(file));
  for (const end = performance.now() + patienceMs; performance.now() < end; await wait(100)) {
    const answer = await gateway.call("GET", "/gateway/describe");
    const { code, gateway: running } = (answer?.body ?? {}) as {
      readonly code?: string;
      readonly gateway?: { readonly configRevision?: string };
    };
    if (running?.configRevision === wanted || (oldEnded && code === "unauthorized")) return true;
  }
  return false;
}
