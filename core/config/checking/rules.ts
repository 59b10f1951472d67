/**
 * Rules that a schema cannot express: relations between fields, addresses and paths. Corrections to the draft never
 * make it less safe.
 */
import { statSync } from "node:fs";
import { isIP } from "node:net";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { HostError } from "../../contract/index.ts";
import { embeddedStore } from "../embedded-store.ts";
import { expandPath } from "../expand-path.ts";
import { renderPath, type Segment } from "../path.ts";
import { hooksSchema, presetSchema } from "../schema/hooks.ts";
import type { Draft } from "../schema.ts";
import type { Secrets } from "../secrets.ts";
import { isTimeZone } from "./time-zone.ts";
import type { PlacedProblem } from "./validate.ts";
import { judgeSecret } from "./weak-secret.ts";

interface RuleContext {
  readonly directory: string;
  readonly secrets: Secrets;
  /** The index in the file of a list element, because invalid elements may have been dropped. */
  readonly indexOf: (list: readonly unknown[], index: number) => number;
}

export function checkRules(draft: Draft, context: RuleContext): readonly PlacedProblem[] {
  return [
    ...checkGateway(draft, context),
    ...checkState(draft, context),
    ...checkHooks(draft, context),
    ...checkAgents(draft, context),
  ];
}

function error(at: readonly Segment[], message: string, hint?: string): PlacedProblem {
  return { severity: "error", at, path: renderPath(at), message, hint };
}

const warning = (at: readonly Segment[], message: string, hint?: string): PlacedProblem => ({
  ...error(at, message, hint),
  severity: "warning",
});

const hostname = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;

function checkGateway(draft: Draft, { indexOf, secrets }: RuleContext): readonly PlacedProblem[] {
  const { gateway } = draft;
  const problems: PlacedProblem[] = [...checkGatewayToken(draft, secrets)];
  if (!isHost(gateway.host)) {
    problems.push(
      error(
        ["gateway", "host"],
        `is ${JSON.stringify(gateway.host)}, but must be an address or a host name without port`,
      ),
    );
    gateway.host = "127.0.0.1";
  }
  gateway.trustedProxies.forEach((proxy, index) => {
    if (isNetwork(proxy)) return;
    const at = ["gateway", "trustedProxies", indexOf(gateway.trustedProxies, index)];
    problems.push(error(at, `is ${JSON.stringify(proxy)}, but must be an address or a CIDR range such as 10.0.0.0/8`));
  });
  gateway.trustedProxies = gateway.trustedProxies.filter(isNetwork);
  return [...problems, ...checkHosts(draft, indexOf)];
}

const isHost = (text: string): boolean => isIP(text) !== 0 || (hostname.test(text) && !/^[0-9.]+$/.test(text));

/** An entry that is not a host name would match no host, and the operator would look elsewhere for the reason. */
function checkHosts({ gateway }: Draft, indexOf: RuleContext["indexOf"]): readonly PlacedProblem[] {
  const problems = gateway.allowedHosts.flatMap((host, index): readonly PlacedProblem[] => {
    if (isHost(host)) return [];
    const at = ["gateway", "allowedHosts", indexOf(gateway.allowedHosts, index)];
    return [error(at, `is ${JSON.stringify(host)}, but must be an address or a host name without port`)];
  });
  gateway.allowedHosts = gateway.allowedHosts.filter(isHost);
  if (gateway.publicUrl === undefined || URL.canParse(gateway.publicUrl)) return problems;
  delete gateway.publicUrl;
  return [
    ...problems,
    error(["gateway", "publicUrl"], "is not a valid address", "Set it to something like https://gateway.example."),
  ];
}

/** No gateway starts with an error here, because it would otherwise use another database than intended. */
function checkState({ state: { store, url }, plugins }: Draft, { secrets }: RuleContext): readonly PlacedProblem[] {
  const at = ["state", "url"];
  if (store === embeddedStore) {
    if (url === undefined) return [];
    return [
      error(
        at,
        `is set, but state.store is ${embeddedStore}, which has no address`,
        "Set state.store too, or remove state.url.",
      ),
    ];
  }
  const plugin = `store-${store}`;
  if (Object.hasOwn(plugins.entries, plugin) && plugins.entries[plugin]?.enabled === false) {
    const fix = `Remove that key, or set state.store to ${embeddedStore} and remove state.url.`;
    return [error(["state", "store"], `is ${store}, but plugins.entries.${plugin}.enabled is false`, fix)];
  }
  if (url === undefined)
    return [
      error(
        at,
        `is missing, and the store ${store} needs it`,
        'Set it to the address of the database, such as { "env": "DATABASE_URL" }.',
      ),
    ];
  const address = tryResolve(secrets, url, "state.url");
  if (typeof address !== "string") return neededAtStart(at, url, secrets);
  return URL.canParse(address)
    ? []
    : [error(at, "is not a valid address", `Write it as ${store}://USER@HOST/DATABASE.`)];
}

function checkGatewayToken({ gateway: { auth } }: Draft, secrets: Secrets): readonly PlacedProblem[] {
  const at = ["gateway", "auth", "token"];
  return [...neededAtStart(at, auth.token, secrets), ...guessable(at, auth.token, secrets)];
}

/**
 * The problem with a secret that the gateway needs to start. The process that checks the file may run in another
 * environment, though.
 */
function neededAtStart(at: readonly Segment[], value: unknown, secrets: Secrets): readonly PlacedProblem[] {
  const fromEnvironment = typeof value === "object" && value !== null && "env" in value;
  return unreadable(at, value, secrets).map(
    (problem): PlacedProblem =>
      fromEnvironment
        ? { ...problem, severity: "warning", message: `${problem.message}; no gateway starts without it` }
        : problem,
  );
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function checkHooks(draft: Draft, context: RuleContext): readonly PlacedProblem[] {
  const { hooks } = draft;
  const problems = [...checkHooksPath(draft), ...checkSessionKeys(draft), ...checkTransforms(draft, context.directory)];
  return hooks.enabled ? [...checkHooksToken(draft, context.secrets), ...problems] : problems;
}

/** Whether a preset has a source of its own, so that it gets deliveries without requests. */
function readsItself(section: unknown): boolean {
  const isPlaced = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length > 0;
  return (
    isPlaced(section) &&
    !Array.isArray(section) &&
    Object.entries(section as object).some(([key, value]) => !(key in presetSchema.properties) && isPlaced(value))
  );
}

/** Whether something of the hook server could take a delivery without the hook token. */
function opensWithoutToken({ hooks }: Draft): boolean {
  const sections: readonly unknown[] = Object.values(hooks);
  const presets = Object.entries(hooks).filter(([key]) => !(key in hooksSchema.properties));
  const isSigned = (section: unknown) =>
    typeof section === "object" && section !== null && "signature" in section && section.signature !== undefined;
  return (
    hooks.mappings.some(({ signature, token }) => signature !== undefined || token !== undefined) ||
    sections.some(isSigned) ||
    presets.some(([, section]) => readsItself(section))
  );
}

function checkHooksToken(draft: Draft, secrets: Secrets): readonly PlacedProblem[] {
  const at = ["hooks", "token"];
  if (draft.hooks.token === undefined)
    return opensWithoutToken(draft)
      ? []
      : [
          error(
            at,
            "is missing, and hooks.enabled needs it unless a mapping has a signature or token of its own, " +
              "or a preset has a source of its own",
            "Set it to a long random text that is used nowhere else.",
          ),
        ];
  const wrong = unreadable(at, draft.hooks.token, secrets);
  if (wrong.length > 0) return wrong;
  const weak = guessable(at, draft.hooks.token, secrets);
  const hookToken = tryResolve(secrets, draft.hooks.token, "hooks.token");
  if (draft.gateway.auth.token === undefined) return weak;
  const gatewayToken = tryResolve(secrets, draft.gateway.auth.token, "gateway.auth.token");
  if (gatewayToken !== hookToken) return weak;
  return [error(at, "is the same as gateway.auth.token", "Give the hook endpoints a token of their own.")];
}

/** The problem with a secret that is set but cannot be read. */
function unreadable(at: readonly Segment[], value: unknown, secrets: Secrets): readonly PlacedProblem[] {
  if (value === undefined) return [];
  const path = renderPath(at);
  const found = tryResolve(secrets, value, path);
  return found instanceof HostError
    ? [error(at, found.message.replace(`${path}: `, "").replace(/\.$/, ""), found.hint)]
    : [];
}

/** The problem with a secret that is readable but too short. */
function guessable(at: readonly Segment[], value: unknown, secrets: Secrets): readonly PlacedProblem[] {
  if (value === undefined) return [];
  const found = tryResolve(secrets, value, renderPath(at));
  const fault = typeof found === "string" ? judgeSecret(found) : undefined;
  return fault === undefined ? [] : [{ ...error(at, fault.message, fault.hint), severity: fault.severity }];
}

function tryResolve(secrets: Secrets, value: unknown, path: string): string | HostError {
  try {
    return secrets.resolve(value, path);
  } catch (thrown) {
    if (thrown instanceof HostError) return thrown;
    throw thrown;
  }
}

/** Nothing creates the workspace directory. Without this warning, an agent would silently lack skills and files. */
function missingWorkspace(
  at: readonly Segment[],
  workspace: string | undefined,
  directory: string,
): readonly PlacedProblem[] {
  if (workspace === undefined) return [];
  const full = expandPath(workspace, directory);
  if (statSync(full, { throwIfNoEntry: false })?.isDirectory() === true) return [];
  const hint =
    "Create the directory, or correct the path. Until then the agent has no skills, no HEARTBEAT.md and no files.";
  return [warning([...at, "workspace"], `is ${JSON.stringify(workspace)}, and there is no directory ${full}`, hint)];
}

function checkHooksPath(draft: Draft): readonly PlacedProblem[] {
  const given = draft.hooks.path;
  const path = normalizeHooksPath(given);
  draft.hooks.path = path;
  if (path === "/")
    return [
      error(
        ["hooks", "path"],
        `is ${JSON.stringify(given)}, which is the root of all paths`,
        "Use a path such as /hooks.",
      ),
    ];
  if (/[?#\s\\]|\/\/|\/\.{1,2}(\/|$)/.test(path)) {
    return [error(["hooks", "path"], `is ${JSON.stringify(given)}, but must be a plain URL path such as /hooks`)];
  }
  return [];
}

/** Trims the path and normalizes its slashes: one at the start, none at the end. `/` for an empty path. */
function normalizeHooksPath(given: string): string {
  return `/${given.trim().replace(/^\//, "").replace(/\/+$/, "")}`;
}

function checkSessionKeys(draft: Draft): readonly PlacedProblem[] {
  const { defaultSessionKey: key, allowedSessionKeyPrefixes: prefixes } = draft.hooks;
  if (key === undefined || prefixes === undefined || prefixes.some((prefix) => key.startsWith(prefix))) return [];
  const hint = "Choose a key that begins with one of the prefixes, or add its prefix.";
  return [
    error(
      ["hooks", "defaultSessionKey"],
      `is ${JSON.stringify(key)}, which hooks.allowedSessionKeyPrefixes does not allow`,
      hint,
    ),
  ];
}

function checkTransforms(draft: Draft, directory: string): readonly PlacedProblem[] {
  const given = draft.hooks.transformsDir;
  if (given === undefined) return [];
  const root = resolve(directory, "transforms");
  const inside = relative(root, resolve(root, given));
  const escapes = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  if (!escapes && !given.startsWith("~") && !/[\0\\]/.test(given) && !/^[a-z][a-z0-9+.-]*:/i.test(given)) return [];
  return [
    error(
      ["hooks", "transformsDir"],
      `is ${JSON.stringify(given)}, which lies outside ${root}`,
      "Name a directory inside the transforms root.",
    ),
  ];
}

const timeZoneHint = "Write a name of the IANA database, such as Europe/Berlin or UTC.";

function checkAgents(draft: Draft, { indexOf, directory }: RuleContext): readonly PlacedProblem[] {
  const ids = new Set<string>();
  const { defaults, list } = draft.agents;
  const problems: PlacedProblem[] = [
    ...missingWorkspace(["agents", "defaults"], defaults.workspace, directory),
    ...list.flatMap(({ workspace }, index) =>
      missingWorkspace(["agents", "list", indexOf(list, index)], workspace, directory),
    ),
  ];
  draft.agents.list = list.filter((agent, index) => {
    if (!ids.has(agent.id)) return ids.add(agent.id);
    problems.push(
      error(
        ["agents", "list", indexOf(list, index), "id"],
        `is ${JSON.stringify(agent.id)}, which another agent already has`,
      ),
    );
    return false;
  });
  if (list.filter((agent) => agent.default).length > 1) {
    problems.push(warning(["agents", "list"], "more than one agent is marked as default; the first one is used"));
  }
  const zone = defaults.timezone;
  if (zone !== undefined && !isTimeZone(zone)) {
    problems.push(
      error(
        ["agents", "defaults", "timezone"],
        `is ${JSON.stringify(zone)}, which is not a known time zone`,
        timeZoneHint,
      ),
    );
    delete defaults.timezone;
  }
  const bound = draft.bindings.flatMap((binding, index) =>
    checkBinding(binding, ["bindings", indexOf(draft.bindings, index)], ids),
  );
  return [...problems, ...bound];
}

function checkBinding(
  { agentId, match: { peer, threadId } }: Draft["bindings"][number],
  path: readonly (string | number)[],
  agents: ReadonlySet<string>,
): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  if (!agents.has(agentId) && (agents.size > 0 || agentId !== "main")) {
    problems.push(
      warning(
        [...path, "agentId"],
        `is ${JSON.stringify(agentId)}, which is not in agents.list`,
        "Name an agent of agents.list, or add this one; until then the default agent answers.",
      ),
    );
  }
  // In `groups` it means every group.
  if (peer?.id === "*") {
    const fix = "Write a binding for each chat, or remove peer: then the binding matches every chat of the channel.";
    problems.push(warning([...path, "match", "peer", "id"], 'is "*", which matches no chat', fix));
  }
  if (threadId === "*") {
    const fix = "Remove threadId: then the binding matches every thread.";
    problems.push(warning([...path, "match", "threadId"], 'is "*", which matches no thread', fix));
  }
  return problems;
}
