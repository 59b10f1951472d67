/** The credentials of an account: where they come from, and the secrets that they name. */
import type { PathOf } from "../access/index.ts";
import {
  type ChannelAccountSection,
  changeMarked,
  type Environment,
  nodeOf,
  type Problem,
  parsePath,
  renderPath,
  type Secrets,
} from "../config/index.ts";
import { HostError, reasonOf } from "../contract/index.ts";
import type { CalledChannel } from "../host/index.ts";

type Values = Readonly<Record<string, unknown>>;

export interface CredentialSources {
  readonly secrets: Secrets;
  readonly environment: Environment;
}

/**
 * Resolves secrets. Credentials at the root and in the environment belong to the account `default` alone, and only if
 * it has none of its own.
 */
export function withCredentials(
  definition: CalledChannel,
  account: ChannelAccountSection,
  path: string,
  { secrets, environment }: CredentialSources,
): { readonly raw: Values; readonly problems: readonly Problem[] } {
  const raw: Record<string, unknown> = { ...account.raw };
  const problems: Problem[] = [];
  const credentials = definition.credentials ?? [];
  const hasOwn = credentials.some((name) => account.own[name] !== undefined);
  if (account.id !== "default" || hasOwn) {
    for (const name of credentials) if (account.own[name] === undefined) delete raw[name];
  } else if (credentials.every((name) => raw[name] === undefined)) {
    for (const [name, variable] of Object.entries(definition.environment ?? {})) {
      const value = environment[variable]?.trim();
      if (value) raw[name] = value;
    }
  }
  const resolved = (secret: unknown, at: string): string | undefined => {
    try {
      return secrets.resolve(secret, at);
    } catch (error) {
      const hint = error instanceof HostError ? { hint: error.hint } : {};
      problems.push({ severity: "error", path: at, message: withoutPath(reasonOf(error), at), ...hint });
      return undefined;
    }
  };
  const resolve = (name: string, secret: unknown, at: string) => {
    raw[name] = resolved(secret, at);
    if (raw[name] === undefined) delete raw[name];
  };
  for (const [file, name] of Object.entries(definition.secretFiles ?? {})) {
    if (raw[file] !== undefined) resolve(name, { file: raw[file] }, `${path}.${file}`);
  }
  for (const name of definition.secrets ?? []) {
    if (raw[name] !== undefined) resolve(name, raw[name], `${path}.${name}`);
  }
  const marked = changeMarked(nodeOf(definition.options), raw, parsePath(path) ?? [path], {
    mark: "secret",
    change: (value, at) => resolved(value, renderPath(at)),
  });
  return { raw: marked as Values, problems };
}

/** The message of an error names the path; a problem has the path as a separate field. */
function withoutPath(message: string, path: string): string {
  return (message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message).replace(/\.$/, "");
}

/**
 * The place of an account's credential: an option, wherever it is inherited from, otherwise an environment variable.
 * For a channel without credentials, such as one that signs in by a name alone, it is the account itself.
 */
export function credentialPlace(
  { credentials = [], secretFiles = {}, environment = {} }: CalledChannel,
  { raw, own, id }: ChannelAccountSection,
  pathOf: PathOf,
  of?: string,
): string {
  const hasOwn = credentials.some((name) => own[name] !== undefined);
  const from = id !== "default" || hasOwn ? own : raw;
  // A file takes precedence over the option itself.
  const isMeant = (name: string) => of === undefined || name === of || secretFiles[name] === of;
  const name = [...Object.keys(secretFiles), ...credentials].find((one) => isMeant(one) && from[one] !== undefined);
  const variables = Object.values(environment).map((variable) => `$${variable}`);
  if (name !== undefined) return pathOf([name]);
  return variables.length === 0 ? pathOf([]) : variables.join(", ");
}
