/**
 * Checks the configuration file: its problems, who can read the secrets in it, and whether its tokens can be guessed.
 */
import { chmodSync, statSync } from "node:fs";
import { isSecretFault, judgeSecret } from "../../config/checking/weak-secret.ts";
import { showConfigValue } from "../../config/editing/values.ts";
import { renderPath } from "../../config/path.ts";
import type { Problem } from "../../config/problem.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { createSecrets } from "../../config/secrets.ts";
import { programCommand } from "../../contract/command.ts";
import { reasonOf } from "../../contract/errors.ts";
import { channelDefinitions } from "../../gateway/config-problems.ts";
import { misnamedChannels } from "../../gateway/misnamed-channels.ts";
import { pluginProblems } from "../config.ts";
import { renderClock, renderDuration } from "../output/times.ts";
import { declaredSchemas, readyPlugins } from "../plugins/declarations.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";
import { ignoredOf } from "./people.ts";
import { replaceChannelName } from "./repairs.ts";

export async function checkConfiguration(input: CheckInput): Promise<readonly Finding[]> {
  const { loaded, declared, context } = input;
  const problems = [...loaded.problems, ...(await pluginProblems(declared, loaded, context))];
  const misnamed = misnamedChannels(loaded.written, channelDefinitions(readyPlugins(declared)));
  const repairOf = (path: string) => misnamed.find((one) => renderPath(one.path) === path);
  // The check of the allowlists reports these, with the accounts they concern.
  const reported = ignoredOf(input);
  const found = problems
    .filter(
      ({ path, message }) =>
        !reported.some((one) => one.path === path && message.startsWith(JSON.stringify(one.entry))),
    )
    .filter((problem) => !isOnlyMissingHere(problem, input))
    // The check of the tokens reports these, with what they open.
    .filter(
      ({ severity, path, message }) => !(severity === "warning" && tokenPaths.includes(path) && isSecretFault(message)),
    )
    .map(({ severity, path, message, hint, line, section }): Finding => {
      const off = section === undefined ? "" : `; ${section} is off until then`;
      const named = repairOf(path);
      return {
        check: "configuration",
        verdict: severity === "error" ? "fail" : "warn",
        reason: `${path === "" ? loaded.file : path}${line === undefined ? "" : ` (line ${line})`}: ${message}${off}`,
        path,
        fix: hint,
        ...(named === undefined ? {} : { repair: replaceChannelName(input, named) }),
      };
    });
  return orOk(
    found,
    "configuration",
    loaded.found
      ? `${loaded.file} is valid`
      : `there is no ${loaded.file}; the defaults apply, and \`${programCommand} init\` writes one`,
  );
}

/**
 * A service has its own environment: a variable that the running gateway could read from this configuration is not
 * missing.
 */
function isOnlyMissingHere({ path, message }: Problem, { description, loaded }: CheckInput): boolean {
  if (description?.configFile !== loaded.file || !/environment variable \S+ is not set/.test(message)) return false;
  const missingThere = description.problems.some((problem) => problem.path === path);
  return !missingThere && !description.accounts.some(({ status }) => status.detail?.includes(path));
}

const othersMayRead = 0o077;

export function checkFileMode({ loaded, declared }: CheckInput): readonly Finding[] {
  if (!loaded.found || process.platform === "win32") return [];
  const { file } = loaded;
  const mode = statSync(file).mode & 0o777;
  if ((mode & othersMayRead) === 0 || !holdsSecret(loaded.config, declared)) return [];
  return [
    {
      check: "configuration file",
      verdict: "warn",
      reason: `other users of this machine may read ${file} (mode ${mode.toString(8)}), and it contains secrets`,
      path: file,
      fix: `chmod 600 ${file}, or keep the secrets in the environment or in files.`,
      repair: {
        what: `make ${file} readable by its owner only`,
        edits: false,
        run: async () => chmodSync(file, 0o600),
      },
    },
  ];
}

/**
 * A text that would be hidden is a secret. References such as `{ env }` are hidden too, although they need no
 * protection.
 */
function holdsSecret(config: unknown, declared: CheckInput["declared"]): boolean {
  return differs(config, showConfigValue(config, "", declaredSchemas(declared)));
}

function differs(value: unknown, shown: unknown): boolean {
  if (typeof value === "string") return value !== shown && value !== "";
  if (typeof value !== "object" || value === null || typeof shown !== "object" || shown === null) return false;
  return Object.entries(value).some(([key, inner]) =>
    differs(inner, (shown as Readonly<Record<string, unknown>>)[key]),
  );
}

const short = 24;
const tokenPaths: readonly string[] = ["gateway.auth.token", "hooks.token"];
const guessable = /^(?:change|replace|your|example|test|secret|password|token|hook)|^(.)\1*$|^(?:0123|1234|abcd)/i;

export function checkTokens(input: CheckInput): readonly Finding[] {
  const { loaded, context, gateway } = input;
  const { config, directory } = loaded;
  const secrets = createSecrets({ env: context.env, directory });
  const tokens = [
    ["gateway.auth.token", config.gateway.auth.token, "the management routes"],
    ["hooks.token", config.hooks.enabled ? config.hooks.token : undefined, "the hook endpoints"],
  ] as const;
  const found = tokens.flatMap(([path, secret, opens]): readonly Finding[] => {
    if (secret === undefined) return [];
    const fix = "Use a long random one, such as from `openssl rand -base64 32`, and give it to the callers.";
    try {
      const token = secrets.resolve(secret, path);
      // An error of the configuration, which its own check reports.
      if (judgeSecret(token)?.severity === "error") return [];
      if (token.length >= short && !guessable.test(token)) return [];
      const verdict = judgeSecret(token) !== undefined || /^(.)\1*$/.test(token) ? "fail" : "warn";
      const why = token.length < short ? `has ${token.length} characters` : "looks like an example";
      return [
        {
          check: "tokens",
          verdict,
          path,
          reason: `${path} gives access to ${opens} and ${why}, so it can be guessed`,
          fix,
        },
      ];
    } catch (error) {
      // A missing hook token is reported as a problem of the configuration; a running gateway could read its own token.
      if (path === "hooks.token" || gateway !== null) return [];
      return [
        {
          check: "tokens",
          verdict: "fail",
          path,
          reason: reasonOf(error),
          fix: "Set the variable or the file that it names, here and for the gateway.",
        },
      ];
    }
  });
  return [
    ...orOk([...found, ...stillAccepted(input)], "tokens", "no configured token can be guessed"),
    ...withoutHookToken(config),
  ];
}

/** Not a fault: the operator may want only senders with credentials of their own. */
function withoutHookToken({ hooks }: GatewayConfig): readonly Finding[] {
  if (!hooks.enabled || hooks.token !== undefined) return [];
  const at = hooks.path;
  const reason =
    `hooks.token is not set, so ${at}/wake and ${at}/agent are off; mappings with a signature or token of their ` +
    "own are served";
  return [{ check: "tokens", verdict: "ok", path: "hooks.token", reason }];
}

const replaced = [
  ["hooks.previousToken", ({ hooks }: GatewayConfig) => (hooks.enabled ? hooks.previousToken : undefined)],
  ["gateway.auth.previousToken", ({ gateway }: GatewayConfig) => gateway.auth.previousToken],
] as const;

/** Replaced tokens, which are accepted until they expire. */
function stillAccepted({ loaded: { config }, context }: CheckInput): readonly Finding[] {
  return replaced.flatMap(([path, read]): readonly Finding[] => {
    const previous = read(config);
    const until = previous === undefined ? Number.NaN : Date.parse(previous.until);
    if (!(until > context.now())) return [];
    const left = renderDuration(until - context.now());
    return [
      {
        check: "tokens",
        verdict: "warn",
        path,
        reason: `${path} is still accepted beside the new token, until ${renderClock(until)} (${left} from now)`,
        fix:
          `Give the new token to all clients by then. To end the old one now: ${programCommand} config ` +
          `unset ${path}`,
      },
    ];
  });
}
