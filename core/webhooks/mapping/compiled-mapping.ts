/**
 * Compiles mappings and presets once for each configuration. A mapping decides which requests it handles and what it
 * does with them.
 *
 * A mapping with an error still matches its requests and answers 503. They never reach another mapping, and the sender
 * retries until the error is fixed.
 */
import { hash } from "node:crypto";
import type { GatewayConfig, Problem, Segment } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import { createAddressList } from "../../http/index.ts";
import type { Signature } from "../signature/compiled-signature.ts";
import { trimSlashes } from "./address.ts";
import {
  ChallengeError,
  type ChallengeSettings,
  compileChallenge,
  type DeclaredChallenge,
} from "./declared-challenge.ts";
import { compileMatch, type Match, MatchError } from "./match.ts";
import type { BodyKind } from "./payload.ts";
import { PayloadPathError, parsePayloadPath } from "./payload-path.ts";
import { compileTemplate, type Template, TemplateError } from "./template.ts";

export type HookSettings = GatewayConfig["hooks"];
export type MappingSettings = HookSettings["mappings"][number];

/** The fields of a mapping that contain a template. */
export const templateFields = [
  "messageTemplate",
  "textTemplate",
  "name",
  "agentId",
  "sessionKey",
  "channel",
  "to",
  "model",
] as const;
export type TemplateField = (typeof templateFields)[number];

/** The fields that are the same for every delivery. */
const plainFields = ["sessionMode", "wakeMode", "deliver", "platform", "thinking", "timeoutSeconds"] as const;

/** A mapping before it is compiled, from the configuration or a preset. */
export interface MappingSource {
  readonly id: string;
  /** The configuration path that enables the mapping: `hooks.mappings[2]`, `hooks.presets[0]`. */
  readonly at: string;
  /** The preset that contains the mapping; absent for a user's mapping. */
  readonly preset?: string;
  readonly settings: MappingSettings;
  /** The configuration path of a setting. For a preset, it is the path that the user can change. */
  readonly placeOf: (setting: readonly Segment[]) => string;
}

/** A list in the payload with one run for each element. */
export interface ForEach {
  readonly path: string;
  /** The keys of the list; none for `payload` if the payload is a list itself. */
  keysIn(payload: Json): readonly string[];
}

export interface SignedBy {
  readonly signature: Signature;
}

export interface Mapping extends MappingSource {
  readonly match: Match;
  /** The kinds of body that the mapping accepts. */
  readonly kinds: readonly BodyKind[];
  readonly signedBy?: SignedBy;
  /** Whether a client address may call the mapping; absent: all may. */
  readonly admits?: (address: string) => boolean;
  readonly forEach?: ForEach;
  /** How the platform tests the URL. */
  readonly challenge?: DeclaredChallenge;
  readonly templates: readonly (readonly [TemplateField, Template])[];
  /** The separate values in the session key. If one is missing, strangers would share the key. */
  readonly keyParts: readonly Template[];
  readonly fixed: Readonly<Record<string, unknown>>;
  /** True if the mapping has an error. Its requests are answered with 503. */
  readonly faulty: boolean;
  /** The absent names that were logged, so that each is logged once. */
  readonly loggedNames: Set<string>;
}

/** Reports a problem of a mapping. `setting` is its path below the mapping. It is an error unless `warning` is set. */
export type Report = (
  setting: readonly Segment[],
  message: string,
  options?: {
    readonly hint?: string | undefined;
    readonly warning?: boolean;
    /** The error may be gone at the next request, so the mapping remains enabled. */
    readonly passing?: boolean;
  },
) => void;

export interface CompiledParts {
  readonly match?: Match;
  readonly forEach?: ForEach;
  readonly challenge?: DeclaredChallenge;
  readonly templates: readonly (readonly [TemplateField, Template])[];
}

/** Compiles the parts of a mapping that do not depend on other mappings. */
export function compileParts({ settings }: MappingSource, report: Report): CompiledParts {
  const match = compileMatchOf(settings, report);
  const forEach = settings.forEach === undefined ? undefined : compileForEach(settings.forEach, report);
  const templates = templateFields.flatMap((field): readonly (readonly [TemplateField, Template])[] => {
    const text = settings[field];
    if (text === undefined) return [];
    try {
      return [[field, compileTemplate(text)]];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      report([field], error.message, {
        hint: 'An expression is written {{ path.to.field }}; text in double braces is written {{ "{{" }}.',
      });
      return [];
    }
  });
  const challenge = settings.challenge === undefined ? undefined : compileChallengeOf(settings.challenge, report);
  return { templates, ...(match && { match }), ...(forEach && { forEach }), ...(challenge && { challenge }) };
}

function compileChallengeOf(settings: ChallengeSettings, report: Report): DeclaredChallenge | undefined {
  try {
    return compileChallenge(settings);
  } catch (error) {
    if (!(error instanceof ChallengeError)) throw error;
    report(["challenge", ...error.at], error.message);
    return undefined;
  }
}

function compileMatchOf({ match }: MappingSettings, report: Report): Match | undefined {
  try {
    return compileMatch(match);
  } catch (error) {
    if (!(error instanceof MatchError)) throw error;
    for (const { at, message, hint } of error.problems) {
      report(["match", ...at], message, { hint });
    }
    return undefined;
  }
}

function compileForEach(path: string, report: Report): ForEach | undefined {
  try {
    const keys = parsePayloadPath(path);
    const isRoot = keys.length === 1 && keys[0] === "payload";
    return { path, keysIn: (payload) => (isRoot && Array.isArray(payload) ? [] : keys) };
  } catch (error) {
    if (!(error instanceof PayloadPathError)) throw error;
    report(["forEach"], error.message, {
      hint: "Name a list of the payload, such as messages, or payload if it is a list itself.",
    });
    return undefined;
  }
}

/** Completes a mapping; `undefined` if its requests cannot be determined. */
export function finishMapping(
  source: MappingSource,
  parts: CompiledParts,
  { signedBy, faulty }: { readonly signedBy?: SignedBy | undefined; readonly faulty: boolean },
): Mapping | undefined {
  const { match, forEach, challenge, templates } = parts;
  // A signed mapping without a path would check the requests of every sender.
  if (match === undefined || (match.path === undefined && source.settings.signature !== undefined)) return undefined;
  const { settings } = source;
  const sessionKey = templates.find(([field]) => field === "sessionKey")?.[1];
  const fixed: Record<string, unknown> = {};
  for (const field of plainFields) if (settings[field] !== undefined) fixed[field] = settings[field];
  return {
    ...source,
    match,
    templates,
    fixed,
    faulty,
    loggedNames: new Set(),
    kinds: kindsOf(settings, signedBy),
    keyParts: (sessionKey?.reads ?? []).map((read) => compileTemplate(`{{ ${read} }}`)),
    ...(forEach === undefined ? {} : { forEach }),
    ...(challenge === undefined || faulty ? {} : { challenge }),
    ...(signedBy === undefined ? {} : { signedBy }),
    ...(settings.addresses === undefined ? {} : { admits: createAddressList(settings.addresses) }),
  };
}

/** The method of the requests that a mapping takes. */
export const methodOf = ({ settings }: Pick<MappingSource, "settings">): HookMethod => settings.method ?? "POST";

export type HookMethod = "GET" | "POST";

/**
 * The kinds of body to accept. Some platforms post both forms and JSON, whatever the mapping says. The query of a GET
 * is a form.
 */
function kindsOf({ body, method }: MappingSettings, signedBy: SignedBy | undefined): readonly BodyKind[] {
  if (method === "GET") return ["form"];
  const kind = signedBy?.signature.bodyKind;
  if (kind === "text-json") return [kind];
  return kind === undefined ? [body] : ["json", "form"];
}

/** All mappings that may handle requests to one path, in order. */
export interface Way {
  /** True if a signature is required instead of the hook token. */
  readonly signed: boolean;
  readonly mappings: readonly Mapping[];
  /** The mappings that declare how their platform tests the URL. */
  readonly challenges: readonly Mapping[];
  /** The distinct signatures of the mappings. */
  readonly signatures: readonly SignedBy[];
  /** The parameters of the query that contain a secret. */
  readonly secretParameters: ReadonlySet<string>;
  /** Identifies the signatures' secrets, for counting failures. */
  readonly credential: string;
  /** All kinds of body that the mappings for POST accept, those of the first mapping first. */
  readonly kinds: readonly BodyKind[];
  /** The methods that the mappings take; POST if there are none. */
  readonly methods: readonly HookMethod[];
}

export interface MappingTable {
  readonly mappings: readonly Mapping[];
  readonly problems: readonly Problem[];
  /** Headers that contain a signature or a scheme's secret. */
  readonly hiddenHeaders: ReadonlySet<string>;
  /** The mappings of a path, given without slashes at its ends. */
  way(path: string): Way;
}

/**
 * Creates the table. `signedPaths` includes paths whose only signature is unusable, because they never fall back to the
 * hook token.
 */
export function createTable(
  mappings: readonly Mapping[],
  { signedPaths, problems }: { readonly signedPaths: ReadonlySet<string>; readonly problems: readonly Problem[] },
): MappingTable {
  const anywhere = wayOf(
    mappings.filter(({ match }) => match.path === undefined),
    undefined,
  );
  const ways = new Map<string, Way>();
  for (const path of new Set([...signedPaths, ...mappings.flatMap(({ match }) => match.path ?? [])])) {
    const signed = signedPaths.has(path);
    const takes = (mapping: Mapping) =>
      signed
        ? mapping.signedBy !== undefined && mapping.match.path === path
        : mapping.match.path === undefined || mapping.match.path === path;
    ways.set(path, wayOf(mappings.filter(takes), signed ? path : undefined));
  }
  const hidden = mappings.flatMap(({ signedBy }) => signedBy?.signature.secretHeaders ?? []);
  return {
    mappings,
    problems,
    hiddenHeaders: new Set(hidden.map((name) => name.toLowerCase())),
    way: (path) => ways.get(path) ?? anywhere,
  };
}

function wayOf(mappings: readonly Mapping[], signedPath: string | undefined): Way {
  const kinds = new Set(mappings.flatMap((mapping) => (methodOf(mapping) === "POST" ? mapping.kinds : [])));
  const methods = new Set(mappings.map(methodOf));
  const signatures = signedPath === undefined ? [] : [...new Set(mappings.flatMap(({ signedBy }) => signedBy ?? []))];
  const signers = signatures.flatMap(({ signature }) => signature.signers);
  return {
    signed: signedPath !== undefined,
    mappings,
    challenges: mappings.filter(({ challenge }) => challenge !== undefined),
    signatures,
    secretParameters: new Set(signatures.flatMap(({ signature }) => signature.secretParameter ?? [])),
    credential: `signature ${signedPath}:${hash("sha256", signers.join())}`,
    kinds: [...kinds],
    methods: methods.size === 0 ? ["POST"] : [...methods],
  };
}

/** The path of a mapping, even if the rest of it is invalid. */
export function pathOf({ match }: MappingSettings): string | undefined {
  return match?.path === undefined ? undefined : trimSlashes(match.path);
}
