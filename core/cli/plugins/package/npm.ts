/** Runs the user's own npm, with its own configuration. Scripts of packages never run. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseJsonText } from "../../../config/json-text.ts";
import { HostError } from "../../../contract/errors.ts";

const timeoutMs = 10 * 60_000;

export interface NpmCall {
  /** For the error: "npm could not ...". */
  readonly action: string;
  /** The package or the file, for the error. */
  readonly what: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/** What a configuration of the user's must not change. npm waits up to a minute between its attempts by default. */
const always = [
  "--ignore-scripts",
  "--global=false",
  "--workspaces=false",
  "--dry-run=false",
  "--json",
  "--loglevel=error",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=3000",
];

/**
 * Resolves with what npm prints as JSON; `undefined` where it prints nothing. Throws `npm_missing` or `npm_failed`. The
 * arguments are names and versions that have been checked: on Windows a shell reads them.
 */
export async function runNpm(args: readonly string[], call: NpmCall): Promise<unknown> {
  const { directory, env, signal } = call;
  try {
    const { stdout } = await promisify(execFile)("npm", [...args, ...always], {
      ...{ cwd: directory, env: environmentOf(env), encoding: "utf8", timeout: timeoutMs },
      ...{ maxBuffer: 64 * 1_024 * 1_024, shell: process.platform === "win32", signal },
    });
    return parseJsonText(stdout);
  } catch (error) {
    throw failureOf(error, call);
  }
}

/** Without what a surrounding `npm run` says of its own package, which would be taken for the place to install to. */
function environmentOf(env: NpmCall["env"]): NodeJS.ProcessEnv {
  const own = /^npm_(?:package|lifecycle)_|^npm_config_local_prefix$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name) && name !== "INIT_CWD"));
}

interface Failed extends NodeJS.ErrnoException {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly killed?: boolean;
}

const unreachable =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|ENOTCACHED)$/;

function failureOf(thrown: unknown, { action, what, directory, signal }: NpmCall): HostError {
  const { code, stdout = "", stderr = "", killed } = thrown as Failed;
  // A shell, as on Windows, says it in words.
  if (code === "ENOENT" || /'npm' is not recognized/.test(stderr))
    return new HostError("npm_missing", {}, { cause: thrown });
  if (signal?.aborted === true) return new HostError("interrupted");
  const failed = (reason: string, fix: string) =>
    new HostError("npm_failed", { action, reason, fix }, { cause: thrown });
  if (killed === true) return failed("it did not finish within ten minutes", "Try again.");
  const { error } = (parseJsonText(stdout) ?? {}) as {
    readonly error?: { readonly code?: string; readonly summary?: string };
  };
  const npmCode = error?.code ?? /^npm (?:error|ERR!) code (\S+)/m.exec(stderr)?.[1] ?? "";
  const summary =
    error?.summary ?? /^npm (?:error|ERR!) (?!code |errno )(.+)/m.exec(stderr)?.[1] ?? "it gave no reason";
  if (npmCode === "ETARGET" || /^No match found for version/m.test(summary))
    return failed(`the registry has no such version of ${what}`, "Leave out the version for the latest one.");
  if (npmCode === "E404")
    return failed(`the registry has no package ${what}`, "Check the name. A folder begins with ./, ../, ~/ or /.");
  if (npmCode === "EINTEGRITY")
    return failed(
      `the content of ${what} is not what its registry has recorded (integrity mismatch)`,
      "Do not use it before you know why: a proxy, a cache (`npm cache verify`) or the package may have been changed.",
    );
  if (unreachable.test(npmCode))
    return failed(
      "the registry cannot be reached",
      "Check the network and `npm config get registry`, or add the plugin from a file.",
    );
  if (npmCode === "E401" || npmCode === "E403")
    return failed(`the registry refuses ${what} to this user`, "Log in with `npm login`.");
  const [first = ""] = summary.replaceAll(directory, ".").split("\n");
  return failed(first.replace(/\.$/, ""), "Read the log of npm, which `npm config get cache` has in _logs.");
}
