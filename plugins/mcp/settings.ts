/**
 * What `mcpServers` of the agents configures. The host has checked each value against its schema and added the
 * defaults.
 */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import { type Servers, serverProblem, type serversSchema } from "./section.ts";

/** A server, and its place in the configuration. */
export type ServerSettings = Servers[string] & { readonly path: string };

export type Approve = ServerSettings["approve"];

export type Section = Pick<ReturnType<PluginHost<typeof serversSchema>["section"]>, "ofAgent" | "names">;

/** How a server is reached, with its secrets. Two agents with the same definition share one connection. */
export type Definition = ProgramDefinition | AddressDefinition;

export interface ProgramDefinition {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface AddressDefinition {
  readonly kind: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ResolveSecret = (value: unknown, key: string) => string;

/**
 * The servers of each agent, by its id and the server's name, in the order of the names. Those of an agent come in
 * addition to those of the defaults; one with the same name takes its place.
 */
export function serversIn({ names, ofAgent }: Section): ReadonlyMap<string, ReadonlyMap<string, ServerSettings>> {
  return new Map(
    names().agents.map((agent) => {
      const given = ofAgent(agent).flatMap(({ path, settings }) =>
        Object.entries(settings).map(([name, server]): [string, ServerSettings] => [
          name,
          { ...server, path: placeOf(path, name) },
        ]),
      );
      const usable = new Map(given.filter(([, server]) => serverProblem(server) === undefined));
      const used = [...usable].filter(([, { enabled, disabled }]) => enabled && !disabled);
      return [agent, new Map(used.sort(([a], [b]) => (a < b ? -1 : 1)))];
    }),
  );
}

/** The path of a key, as the configuration writes it. */
const placeOf = (path: string, key: string): string =>
  /^[^.[\]"'\s]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

export const hasServers = (section: Section): boolean => [...serversIn(section).values()].some(({ size }) => size > 0);

/** Throws an error that names the place of a secret that cannot be read. */
export function definitionOf(settings: ServerSettings, secret: ResolveSecret): Definition {
  const { command, args = [], env = {}, cwd, url, headers = {}, type, path } = settings;
  const resolved = (values: Readonly<Record<string, unknown>>, key: string) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, secret(value, `${path}.${key}.${name}`)]));
  if (command !== undefined)
    return {
      kind: "stdio",
      command,
      args,
      env: resolved(env, "env"),
      ...(cwd !== undefined && { cwd: fromHome(cwd) }),
    };
  return { kind: type === "sse" ? "sse" : "http", url: url ?? "", headers: resolved(headers, "headers") };
}

const fromHome = (path: string): string => (path.startsWith("~") ? `${process.env.HOME ?? ""}${path.slice(1)}` : path);

/** Equal for equal definitions. */
export const keyOf = (definition: Definition): string => digest(definition);

/** Which server it is, whatever its secrets are: those are replaced from time to time. */
export function identityOf(definition: Definition): string {
  if (definition.kind !== "stdio") return digest([definition.kind, definition.url]);
  const { command, args, cwd = "" } = definition;
  return digest([command, args, cwd]);
}

const digest = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22);

/** What a definition must not show: every value that may be a secret. */
function secretsOf(definition: Definition): readonly string[] {
  const values =
    definition.kind === "stdio"
      ? Object.values(definition.env)
      : [...Object.values(definition.headers), ...keysIn(definition.url)];
  // Of `Bearer KEY`, servers repeat the key alone. The longest first: one may contain another.
  const all = new Set(values.flatMap((value) => [value, ...value.split(/\s+/)]).filter((value) => value.length >= 6));
  return [...all].sort((one, other) => other.length - one.length);
}

/** A part of a path that is a word or a version. Some services put a key there. */
const harmlessPart = /^(?:[a-z]{0,12}(?:[-_.][a-z]{1,12}){0,3}|v\d{1,2}(?:\.\d{1,2})?)$/i;

function keysIn(address: string): readonly string[] {
  const url = URL.parse(address);
  if (url === null) return [];
  const inPath = url.pathname.split("/").filter((part) => !harmlessPart.test(part));
  const given = [...inPath, ...url.searchParams.values(), url.password].filter((value) => value !== "");
  return [...new Set(given.flatMap((value) => [value, decoded(value)]))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function withoutSecrets(text: string, definition: Definition): string {
  return secretsOf(definition).reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

/** An address without what may contain a key. */
export function shownAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "an invalid address";
  const path = url.pathname.split("/").map((part) => (harmlessPart.test(part) ? part : "***"));
  const origin = url.origin === "null" ? `${url.protocol}//${url.host}` : url.origin;
  return `${origin}${path.join("/")}`;
}

const secretName = /key|token|secret|passw|auth|credential/i;
/** Long, with letters and digits, as keys are. */
const likeKey = /^(?=.*\d)(?=.*[a-z])[\w.+/=-]{24,}$/i;
const mostShown = 120;

/** An argument without what may be a key. Secrets belong in `env`, but people write them here, too. */
function shownArgument(argument: string, before: string | undefined): string {
  const [, option, value] = /^(-{1,2}[\w-]+)=(.*)$/s.exec(argument) ?? [];
  if (option !== undefined && value !== undefined)
    return secretName.test(option) ? `${option}=***` : `${option}=${shownArgument(value, undefined)}`;
  if (before?.startsWith("-") && !before.includes("=") && secretName.test(before) && !argument.startsWith("-"))
    return "***";
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(argument)) return shownAddress(argument);
  if (likeKey.test(argument) && !argument.includes("/")) return "***";
  return /\s/.test(argument) ? JSON.stringify(argument) : argument;
}

/** The command with its arguments: many servers have the same command, such as `npx`. */
export function shownCommand({
  command,
  args = [],
}: {
  readonly command: string;
  readonly args?: readonly string[];
}): string {
  const shown = [command, ...args.map((argument, index) => shownArgument(argument, args[index - 1]))].join(" ");
  return shown.length <= mostShown ? shown : `${shown.slice(0, mostShown - 1)}…`;
}

/** The address or the command, in a form that may be shown. */
export function shownPlace(definition: Definition): string {
  return definition.kind === "stdio" ? shownCommand(definition) : shownAddress(definition.url);
}
