/**
 * Checks what a plugin declares and registers, but for its presets: their rules are those of the whole configuration,
 * which the thread of a plugin would load for nothing.
 */
// Imports single files, because the whole library has three dozen and they would be read at every start.
import satisfies from "semver/functions/satisfies.js";
import valid from "semver/functions/valid.js";
import validRange from "semver/ranges/valid.js";
import { type CodeDefinition, PluginError, sdkVersion } from "../../contract/index.ts";
import type {
  ChannelDefinition,
  ChannelOnboarding,
  CheckDefinition,
  CommandDefinition,
  EngineDefinition,
  PanelDefinition,
  PluginDefinition,
  RouteDefinition,
  SourcedTool,
  ToolSource,
} from "../../sdk/contract.ts";
import type { StoreDefinition } from "../../sdk/store.ts";
import { capabilitiesProblem, isPattern } from "./capabilities.ts";
import { routeProblem } from "./channel-route.ts";
import { cliProblem } from "./cli.ts";
import { listingProblem } from "./listing.ts";

const idPattern = /^[a-z][a-z0-9-]{0,63}$/;

/** `field`: what to look for in the file, where it is not the declaration as a whole. */
function invalid(plugin: string, reason: string, field?: string): PluginError {
  return new PluginError("plugin_invalid", { plugin, reason, ...(field !== undefined && { field }) });
}

/**
 * The default export as a declaration, whose presets are to be checked. Throws a `PluginError` with the plugin's name
 * and the problem.
 */
export function checkMembers(name: string, exported: unknown): PluginDefinition {
  if (typeof exported !== "object" || exported === null)
    throw invalid(name, "it has no default export made by definePlugin, defineChannel or defineEngine");
  const declared = exported as Partial<Record<keyof PluginDefinition, unknown>>;
  const { id, version, host, requires, options, setup } = declared;
  if (typeof id !== "string" || !idPattern.test(id))
    throw invalid(name, "its id must be a to z, 0 to 9 and -, beginning with a letter", "id");
  if (typeof version !== "string" || valid(version) === null)
    throw invalid(id, "its version must be a semantic version such as 1.0.0", "version");
  if (typeof host !== "string" || validRange(host) === null)
    throw invalid(id, "its host range must be a semantic version range such as ^0.2.0", "host");
  if (requires !== undefined && !(Array.isArray(requires) && requires.every((entry) => typeof entry === "string")))
    throw invalid(id, "requires must be a list of plugin ids", "requires");
  if (options !== undefined && (typeof options !== "object" || options === null))
    throw invalid(id, "options must be a TypeBox schema", "options");
  if (typeof setup !== "function") throw invalid(id, "it has no setup function", "setup");
  if (!satisfies(sdkVersion, host))
    throw new PluginError("plugin_range", { plugin: id, range: host, version: sdkVersion });
  const { channel } = exported as PluginDefinition;
  if (channel !== undefined) checkChannel(id, channel);
  checkStore(id, (exported as PluginDefinition).store);
  const wrongCli = cliProblem((exported as PluginDefinition).cli);
  if (wrongCli !== undefined) throw invalid(id, wrongCli, "cli");
  checkCodes(id, (exported as PluginDefinition).codes);
  return exported as PluginDefinition;
}

function checkStore(plugin: string, store: unknown): void {
  if (store === undefined) return;
  const { id, description, open, check } = (store ?? {}) as Partial<Record<keyof StoreDefinition, unknown>>;
  if (typeof id !== "string" || !idPattern.test(id))
    throw invalid(plugin, "the id of its store must be a to z, 0 to 9 and -, beginning with a letter", "store");
  if (typeof description !== "string" || description === "")
    throw invalid(plugin, `its store ${id} has no description`, "store");
  if (typeof open !== "function") throw invalid(plugin, `its store ${id} has no open function`, "store");
  if (check !== undefined && typeof check !== "function")
    throw invalid(plugin, `check of its store ${id} must be a function`, "store");
}

/** Types alone are not enough, because plugins run without a type check. */
export function checkChannel(id: string, channel: ChannelDefinition): void {
  const {
    id: name,
    options,
    open,
    capabilities,
    identity,
    route,
    commandPrefix,
    platformFields,
  } = (channel as Given<ChannelDefinition>) ?? {};
  if (typeof name !== "string" || !idPattern.test(name))
    throw invalid(id, "the id of its channel must be a to z, 0 to 9 and -, beginning with a letter", "id");
  if (typeof (options as { readonly properties?: unknown } | undefined)?.properties !== "object")
    throw invalid(
      id,
      "the options of its channel must be a TypeBox object, Type.Object({}) where there are none",
      "options",
    );
  if (typeof open !== "function") throw invalid(id, "its channel has no open function", "open");
  if ((typeof capabilities !== "object" && typeof capabilities !== "function") || capabilities === null)
    throw invalid(id, "its channel has no capabilities", "capabilities");
  const problem = typeof capabilities === "function" ? undefined : capabilitiesProblem(capabilities);
  if (problem !== undefined)
    throw invalid(id, `capabilities.${problem.member} of its channel ${problem.reason}`, problem.member);
  if (platformFields !== undefined && typeof Object(platformFields).properties !== "object")
    throw invalid(id, "platformFields of its channel must be a TypeBox object", "platformFields");
  if (commandPrefix !== undefined && commandPrefix !== "/" && commandPrefix !== "!")
    throw invalid(id, 'commandPrefix of its channel must be "/" or "!"', "commandPrefix");
  const wrongRoute = route === undefined ? undefined : routeProblem(route, { parts: "one" });
  if (wrongRoute !== undefined) throw invalid(id, `route of its channel: ${wrongRoute}`, "route");
  const { fold, weak, ...patterns } = (identity ?? {}) as Partial<Record<string, unknown>>;
  for (const name of ["pattern", "groupPattern"])
    if (patterns[name] !== undefined && !isPattern(patterns[name]))
      throw invalid(id, `identity.${name} of its channel must be a regular expression`, name);
  if (fold !== undefined && typeof fold !== "function")
    throw invalid(id, "identity.fold of its channel must be a function", "fold");
  if (weak !== undefined && typeof weak !== "boolean" && typeof weak !== "function")
    throw invalid(id, "identity.weak of its channel must be true, false or a function", "weak");
  checkOnboarding(id, channel);
  const wrongListing = listingProblem(channel.listing);
  if (wrongListing !== undefined) throw invalid(id, `listing of its channel ${wrongListing}`, "listing");
}

function checkOnboarding(id: string, { onboarding, secrets = [], options }: ChannelDefinition): void {
  if (onboarding === undefined) return;
  const { steps, credential, name, address } = (onboarding as Given<ChannelOnboarding>) ?? {};
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  const has = (option: unknown) => typeof option === "string" && Object.hasOwn(options.properties, option);
  if (!Array.isArray(steps) || !steps.every(isText))
    throw invalid(id, "onboarding of its channel needs steps, a list of sentences", "onboarding");
  if (credential !== undefined && !isText(name))
    throw invalid(id, "onboarding of its channel needs the name of the credential", "onboarding");
  if (credential !== undefined && (!has(credential) || !secrets.includes(String(credential))))
    throw invalid(id, "onboarding.credential of its channel must be one of its secrets", "credential");
  if (address !== undefined && !has(address))
    throw invalid(id, "onboarding.address of its channel must be one of its options", "address");
}

/** What model servers accept as the name of a tool. */
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

const codeName = /^[a-z][a-z0-9_]*\*?$/;
const outcomes: readonly unknown[] = [undefined, "answered", "silent", "refused", "failed"];

function checkCodes(id: string, codes: PluginDefinition["codes"]): void {
  for (const [name, code] of Object.entries(codes ?? {})) {
    const {
      meaning,
      hint,
      hintWhileRetrying = "",
      outcome,
    } = (code ?? {}) as Partial<Record<keyof CodeDefinition, unknown>>;
    if (!codeName.test(name))
      throw invalid(id, `the name of its code ${name} must be a to z, 0 to 9 and _, beginning with a letter`, name);
    if (typeof meaning !== "string" || meaning === "" || typeof hint !== "string")
      throw invalid(id, `its code ${name} needs a meaning and a hint, both texts; the hint may be empty`, name);
    if (typeof hintWhileRetrying !== "string")
      throw invalid(id, `hintWhileRetrying of its code ${name} must be a text`, name);
    if (!outcomes.includes(outcome))
      throw invalid(id, `the outcome of its code ${name} must be answered, silent, refused or failed`, name);
  }
}

type Given<T> = Partial<Record<keyof T, unknown>> | null | undefined;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isFunction = (value: unknown): boolean => typeof value === "function";

/**
 * What is wrong with what a plugin registers in its `setup`, as the end of a sentence about the plugin; `undefined` if
 * nothing is. Types alone are not enough, because plugins run without a type check.
 */
export const registeredProblem = {
  function(what: string, fn: unknown): string | undefined {
    return isFunction(fn) ? undefined : `${what} was called without a function`;
  },
  command(given: Given<CommandDefinition>): string | undefined {
    const { name, summary, run } = given ?? {};
    if (!isText(name)) return "a command needs a name";
    if (typeof summary !== "string") return `the command ${name} needs a summary`;
    return isFunction(run) ? undefined : `the command ${name} has no run function`;
  },
  route(given: Given<RouteDefinition>): string | undefined {
    const { method, path, handler } = given ?? {};
    if (typeof path !== "string") return "a route needs a path";
    if (!isText(method)) return `the route ${path} needs a method: GET, POST, PUT or DELETE`;
    return isFunction(handler) ? undefined : `the route ${path} has no handler function`;
  },
  engine(given: Given<EngineDefinition>): string | undefined {
    const { id, run } = given ?? {};
    if (!isText(id)) return "an engine needs an id";
    return isFunction(run) ? undefined : `the engine ${id} has no run function`;
  },
  tool(given: Given<SourcedTool>): string | undefined {
    const { name, description, parameters, run, needsApproval, timeoutSeconds, readOnly, idempotent, words } =
      given ?? {};
    if (!isText(name) || !toolName.test(name))
      return "a tool needs a name of a to z, A to Z, 0 to 9, _ and -, at most 64 characters";
    if (!isText(description)) return `the tool ${name} needs a description: without it no model knows when to use it`;
    if ((parameters as { readonly type?: unknown } | null | undefined)?.type !== "object")
      return `parameters of the tool ${name} must describe an object, Type.Object({}) where there are none`;
    if (needsApproval !== undefined && typeof needsApproval !== "boolean" && !isFunction(needsApproval))
      return `needsApproval of the tool ${name} must be true, false or a function`;
    for (const [member, value] of Object.entries({ readOnly, idempotent }))
      if (value !== undefined && typeof value !== "boolean")
        return `${member} of the tool ${name} must be true or false`;
    if (timeoutSeconds !== undefined && !(Number(timeoutSeconds) > 0 && Number(timeoutSeconds) <= 3_600))
      return `timeoutSeconds of the tool ${name} must be above 0 and at most 3600`;
    if (words !== undefined && words !== "own" && words !== "outside")
      return `words of the tool ${name} must be own or outside`;
    return isFunction(run) ? undefined : `the tool ${name} has no run function`;
  },
  toolSource(given: Given<ToolSource>): string | undefined {
    const { id, offer } = given ?? {};
    if (typeof id !== "string" || !idPattern.test(id))
      return "a source of tools needs an id of a to z, 0 to 9 and -, beginning with a letter";
    return isFunction(offer) ? undefined : `the source of tools ${id} has no offer function`;
  },
  panel(given: Given<PanelDefinition>): string | undefined {
    const { id, title, empty, entries, acts } = given ?? {};
    if (typeof id !== "string" || !idPattern.test(id))
      return "a panel needs an id of a to z, 0 to 9 and -, beginning with a letter";
    if (!isText(title) || !isText(empty)) return `the panel ${id} needs a title and a sentence for empty`;
    if (!isFunction(entries)) return `the panel ${id} has no entries function`;
    for (const [name, act] of Object.entries(acts ?? {})) {
      const { label, role, run, confirm } = (act ?? {}) as Partial<Record<string, unknown>>;
      if (!idPattern.test(name)) return `the name of the act ${name} of the panel ${id} must be a to z, 0 to 9 and -`;
      if (!isText(label)) return `the act ${name} of the panel ${id} needs a label`;
      if (role !== "operate" && role !== "admin")
        return `the act ${name} of the panel ${id} needs a role: operate or admin`;
      if (confirm !== undefined && !isText(confirm))
        return `confirm of the act ${name} of the panel ${id} must be a text`;
      if (!isFunction(run)) return `the act ${name} of the panel ${id} has no run function`;
    }
    return undefined;
  },
  check(given: Given<CheckDefinition>): string | undefined {
    const { name, explain, fix } = given ?? {};
    if (!isText(name)) return "a check needs a name";
    if (fix !== undefined && !isFunction(fix)) return `fix of the check ${name} must be a function`;
    return isFunction(explain) ? undefined : `the check ${name} has no explain function`;
  },
};
