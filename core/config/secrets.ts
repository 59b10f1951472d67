/**
 * Resolves secrets: a text, `{ env }` or `{ file }`. Every resolved value is remembered, so that the log can redact it.
 */
import { readFileSync, statSync } from "node:fs";
import { HostError, reasonOf } from "../contract/index.ts";
import { isRecord } from "./checking/validate.ts";
import { expandPath } from "./expand-path.ts";

export { expandPath };

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Secrets {
  /** The directory of the configuration, where relative paths begin. */
  readonly directory: string;
  /** Resolves a secret to its text. Throws `secret_unavailable`, which names `path` and never quotes a value. */
  resolve(value: unknown, path: string): string;
  /** A secret that is not in the configuration, such as one that a channel got when a person signed in. */
  remember(text: string): void;
  /** Every resolved value, oldest first, including values replaced by a reload. */
  values(): Iterable<string>;
}

/** Larger files are rejected as secrets. */
const maxFileBytes = 65_536;

/** Limits how many rotated secrets are remembered for redaction. */
const maxRemembered = 4_096;

export function createSecrets(options: { readonly env: Environment; readonly directory: string }): Secrets {
  const remembered = new Set<string>();
  function remember(text: string): void {
    remembered.delete(text);
    remembered.add(text);
    for (const oldest of remembered) {
      if (remembered.size <= maxRemembered) break;
      remembered.delete(oldest);
    }
  }
  return {
    directory: options.directory,
    resolve(value, path) {
      const text = readSecret(value, path, options);
      remember(text);
      return text;
    },
    remember,
    values: () => remembered.values(),
  };
}

function readSecret(
  value: unknown,
  path: string,
  from: { readonly env: Environment; readonly directory: string },
): string {
  const refuse = (reason: string): never => {
    throw new HostError("secret_unavailable", { path, reason });
  };
  if (typeof value === "string") {
    const variable = variableIn(value);
    if (variable !== undefined)
      refuse(`\${${variable}} is used literally; { "env": "${variable}" } reads the variable`);
    return value.trim() || refuse(value === "" ? "it is empty" : "it is blank");
  }
  if (!isRecord(value)) return refuse('it must be a text, { "env": "NAME" } or { "file": "path" }');
  const name = ownText(value, "env");
  if (name !== undefined) {
    const text = Object.hasOwn(from.env, name) ? from.env[name] : undefined;
    return text === undefined || text.trim() === ""
      ? refuse(`the environment variable ${name} is not set`)
      : text.trim();
  }
  const file = ownText(value, "file");
  if (file === undefined) return refuse('it must be a text, { "env": "NAME" } or { "file": "path" }');
  const full = expandPath(file, from.directory);
  try {
    const found = statSync(full);
    if (!found.isFile()) return refuse(`${full} is not a file`);
    if (found.size > maxFileBytes) return refuse(`${full} is larger than ${maxFileBytes} bytes`);
    return readFileSync(full, "utf8").trim() || refuse(`${full} is empty`);
  } catch (thrown) {
    if (thrown instanceof HostError) throw thrown;
    return refuse(reasonOf(thrown));
  }
}

/**
 * The variable in a text that uses shell syntax, `${NAME}`, alone or within a word; `undefined` if there is none. Texts
 * with spaces are prose, which may mention one.
 */
export function variableIn(text: string): string | undefined {
  return /\s/.test(text.trim()) ? undefined : /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/.exec(text)?.[1];
}

function ownText(value: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const text = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
}
