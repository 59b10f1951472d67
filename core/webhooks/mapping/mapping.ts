/**
 * Mappings and presets, compiled once for each configuration: what takes which request, and what it makes of it.
 *
 * A mapping with an error goes on owning its requests and answers 503: what was meant for it gets to no other mapping,
 * and its sender tries again until it is mended.
 */
import { hash } from "node:crypto";
import type { GatewayConfig, Problem, Segment } from "../../config/index.ts";
import { createAddressList } from "../../http/index.ts";
import type { Signature } from "../signature/signature.ts";
import { trimSlashes } from "./address.ts";
import { compileMatch, type Match, MatchError } from "./match.ts";
import type { BodyKind } from "./payload.ts";
import { compilePayloadPath, PayloadPathError, type PayloadReader, parsePayloadPath } from "./payload-path.ts";
import { compileTemplate, type Template, TemplateError } from "./template.ts";

export type HookSettings = GatewayConfig["hooks"];
export type MappingSettings = HookSettings["mappings"][number];

/** Fields of a mapping that hold a template. */
export const templateFields = ["messageTemplate", "textTemplate", "name", "agentId", "sessionKey", "channel", "to", "model"] as const;
export type TemplateField = (typeof templateFields)[number];

/** What is the same for every delivery. */
const plainFields = ["sessionMode", "wakeMode", "deliver", "thinking", "timeoutSeconds"] as const;

/** One mapping before it is compiled: of the configuration, or of a preset. */
export interface MappingSource {
  readonly id: string;
  /** Where the mapping is switched on: `hooks.mappings[2]`, `hooks.presets[0]`. */
  readonly at: string;
  /** The preset that it belongs to; absent for a mapping of the user's. */
  readonly preset?: string;
  readonly settings: MappingSettings;
  /** Configuration path of one of its settings; of a preset's that which the user can change. */
  readonly placeOf: (setting: readonly Segment[]) => string;
}

/** A list of the payload, one run for each of its elements. */
export interface ForEach {
  readonly path: string;
  readonly keys: readonly string[];
  readonly read: PayloadReader;
}

export interface SignedBy {
  readonly signature: Signature;
}

export interface Mapping extends MappingSource {
  readonly match: Match;
  /** Bodies that it takes. */
  readonly kinds: readonly BodyKind[];
  readonly signedBy?: SignedBy;
  /** Whether a client of this address may call it; absent: any may. */
  readonly admits?: (address: string) => boolean;
  readonly forEach?: ForEach;
  readonly templates: readonly (readonly [TemplateField, Template])[];
  /** Each single thing that the session key reads: a key with a hole in it would be shared by strangers. */
  readonly keyParts: readonly Template[];
  readonly fixed: Readonly<Record<string, unknown>>;
  /** It has an error: its requests are answered 503. */
  readonly faulty: boolean;
}

/** A problem that belongs to one mapping; `setting` is its path below the mapping. An error, unless it is said to be a warning. */
export type Report = (
  setting: readonly Segment[],
  message: string,
  options?: {
    readonly hint?: string | undefined;
    readonly warning?: boolean;
    /** An error that may be gone at the next request: the mapping stays on. */
    readonly passing?: boolean;
  },
) => void;

export interface CompiledParts {
  readonly match?: Match;
  readonly forEach?: ForEach;
  readonly templates: readonly (readonly [TemplateField, Template])[];
}

/** What can be said of a mapping by itself. */
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
  return { templates, ...(match === undefined ? {} : { match }), ...(forEach === undefined ? {} : { forEach }) };
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
    return { path, keys: parsePayloadPath(path), read: compilePayloadPath(path) };
  } catch (error) {
    if (!(error instanceof PayloadPathError)) throw error;
    report(["forEach"], error.message, { hint: "Name a list of the payload, such as messages." });
    return undefined;
  }
}

/** `undefined`: it is unknown which requests it would take. */
export function finishMapping(
  source: MappingSource,
  parts: CompiledParts,
  { signedBy, faulty }: { readonly signedBy?: SignedBy | undefined; readonly faulty: boolean },
): Mapping | undefined {
  const { match, forEach, templates } = parts;
  // Signed and without a path of its own, it would judge the requests of every sender.
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
    kinds: kindsOf(settings, signedBy),
    keyParts: (sessionKey?.reads ?? []).map((read) => compileTemplate(`{{ ${read} }}`)),
    ...(forEach === undefined ? {} : { forEach }),
    ...(signedBy === undefined ? {} : { signedBy }),
    ...(settings.addresses === undefined ? {} : { admits: createAddressList(settings.addresses) }),
  };
}

/** Some platforms post forms as well as JSON, whatever the mapping says. */
function kindsOf({ body }: MappingSettings, signedBy: SignedBy | undefined): readonly BodyKind[] {
  const kind = signedBy?.signature.bodyKind;
  if (kind === "text-json") return [kind];
  return kind === undefined ? [body] : ["json", "form"];
}

/** All mappings that may take a request at one path, in their order. */
export interface Way {
  /** The hook token is not asked for: one of the signatures must hold. */
  readonly signed: boolean;
  readonly mappings: readonly Mapping[];
  /** Each once. */
  readonly signatures: readonly SignedBy[];
  /** Names the secrets of the signatures, for the count of failures. */
  readonly credential: string;
  /** Bodies that one of them takes, the first one's first. */
  readonly kinds: readonly BodyKind[];
}

export interface MappingTable {
  readonly mappings: readonly Mapping[];
  readonly problems: readonly Problem[];
  /** Headers that carry a signature, or a secret of its scheme. */
  readonly hiddenHeaders: ReadonlySet<string>;
  /** `path`: without slashes at its ends. */
  way(path: string): Way;
}

/** `signedPaths`: also those whose only signature cannot be used; they never fall back to the token. */
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
  const kinds = new Set(mappings.flatMap((mapping) => mapping.kinds));
  const signatures = signedPath === undefined ? [] : [...new Set(mappings.flatMap(({ signedBy }) => signedBy ?? []))];
  const signers = signatures.flatMap(({ signature }) => signature.signers);
  return {
    signed: signedPath !== undefined,
    mappings,
    signatures,
    credential: `signature ${signedPath}:${hash("sha256", signers.join())}`,
    kinds: [...kinds],
  };
}

/** The path that a mapping is for, whether the rest of it is in order or not. */
export function pathOf({ match }: MappingSettings): string | undefined {
  return match?.path === undefined ? undefined : trimSlashes(match.path);
}
