/**
 * Compiles all mappings of a configuration in the order in which they are tried: the user's, then those of its presets.
 */
import { hash } from "node:crypto";
import { judgeSecret, nearestOf, type Problem, renderPath, type Segment } from "../../config/index.ts";
import { HostError, programCommand, reasonOf } from "../../contract/index.ts";
import type { PresetDefinition } from "../../sdk/contract.ts";
import { SignatureError } from "../signature/compiled-signature.ts";
import { compileAwaiting, compileSignature } from "../signature/signature.ts";
import { checkMapping, type RuleContext } from "./check-mapping.ts";
import {
  type CompiledParts,
  compileParts,
  createTable,
  finishMapping,
  type Mapping,
  type MappingSettings,
  type MappingSource,
  type MappingTable,
  methodOf,
  pathOf,
  type Report,
  type SignedBy,
} from "./compiled-mapping.ts";

export interface MappingContext extends RuleContext {
  readonly presets: ReadonlyMap<string, PresetDefinition>;
  /** Resolves a secret. Throws `HostError`, which names the path. */
  readonly secret: (value: unknown, path: string) => string;
  /**
   * The problems that the schema found. A mapping that lost an invalid part must not be used as if it were complete.
   */
  readonly problems: readonly Problem[];
}

interface Draft {
  readonly source: MappingSource;
  readonly parts: CompiledParts;
  readonly signedBy?: SignedBy;
  readonly report: Report;
  readonly isFaulty: () => boolean;
}

export function compileMappings(context: MappingContext): MappingTable {
  const problems: Problem[] = [];
  const signatures = new Map<string, SignedBy>();
  const sources = [...ownMappings(context), ...presetMappings(context, problems)].filter(
    ({ settings }) => settings.enabled,
  );
  const drafts = sources.map((source) => compileDraft(source, { context, problems, signatures }));
  const isSigned = ({ settings, placeOf }: MappingSource) =>
    settings.signature !== undefined || hasError(context, placeOf(["signature"]));
  const signedPaths = new Set(sources.filter(isSigned).flatMap(({ settings }) => pathOf(settings) ?? []));
  checkTogether(drafts, { signedPaths, isSigned });
  if (context.hooks.enabled && context.hooks.token === undefined && signedPaths.size > 0)
    for (const { source, report } of drafts) if (!isSigned(source)) reportNoCredential(source, report);
  const mappings = drafts.flatMap(({ source, parts, signedBy, isFaulty }): readonly Mapping[] => {
    const mapping = finishMapping(source, parts, { signedBy, faulty: isFaulty() });
    return mapping === undefined ? [] : [mapping];
  });
  return createTable(mappings, { signedPaths, problems: withoutRepetitions(problems) });
}

/** The mappings of a preset have one place in the configuration, and often the same problem. */
const withoutRepetitions = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify([problem.path, problem.message]), problem])).values(),
];

function ownMappings({ hooks }: MappingContext): readonly MappingSource[] {
  const taken = new Set(hooks.mappings.flatMap(({ id }) => id ?? []));
  const newId = (path: string | undefined, number: number): string => {
    let id = path ?? `mapping-${number}`;
    for (let next = number; taken.has(id); next += 1) id = `${path ?? "mapping"}-${next}`;
    taken.add(id);
    return id;
  };
  return hooks.mappings.map((settings, index) => {
    const at: readonly Segment[] = ["hooks", "mappings", index];
    return {
      id: settings.id ?? newId(pathOf(settings), index + 1),
      at: renderPath(at),
      settings: withToken(settings),
      placeOf: (setting: readonly Segment[]) => renderPath([...at, ...placeOfToken(settings, setting)]),
    };
  });
}

/** Replaces `token` with a signature of the scheme `token`, for which it is an abbreviation. */
function withToken(settings: MappingSettings): MappingSettings {
  const { token } = settings;
  return token === undefined || settings.signature !== undefined
    ? settings
    : { ...settings, signature: { scheme: "token", secret: token } };
}

/** Reports problems of that signature at `token`. */
function placeOfToken({ token, signature }: MappingSettings, setting: readonly Segment[]): readonly Segment[] {
  return token === undefined || signature !== undefined || setting[0] !== "signature"
    ? setting
    : ["token", ...setting.slice(2)];
}

/** The settings that a user may apply to a whole preset, in the section with its name. */
const presetSettings = [
  "agentId",
  "channel",
  "to",
  "model",
  "thinking",
  "instructions",
  "allowUnsafeExternalContent",
  "signature",
] as const;

type PresetSection = Partial<MappingSettings> & { readonly account?: unknown; readonly accounts?: object };

/** Whether the section configures an account. What a plugin watches for it would have no effect without the preset. */
function hasAccount(section: PresetSection | undefined): boolean {
  return section !== undefined && (section.account !== undefined || Object.keys(section.accounts ?? {}).length > 0);
}

function presetMappings({ hooks, presets }: MappingContext, problems: Problem[]): readonly MappingSource[] {
  const sections = hooks as unknown as Readonly<Record<string, PresetSection | undefined>>;
  const brought = [...presets.keys()].filter((name) => !hooks.presets.includes(name) && hasAccount(sections[name]));
  return [...hooks.presets, ...brought].flatMap((name, index): readonly MappingSource[] => {
    const named = index < hooks.presets.length;
    const at = renderPath(named ? ["hooks", "presets", index] : ["hooks", name]);
    const twice = named && hooks.presets.indexOf(name) < index;
    const preset = presets.get(name);
    if (twice) problems.push({ severity: "warning", path: at, message: `names ${JSON.stringify(name)} again` });
    else if (preset === undefined) {
      const nearest = nearestOf(name, [...presets.keys()]);
      const known =
        presets.size === 0 ? "No plugin provides presets." : `Available presets: ${[...presets.keys()].join(", ")}.`;
      const hint = nearest === undefined ? known : `Did you mean ${nearest}?`;
      problems.push({
        severity: "error",
        path: at,
        section: at,
        message: `is ${JSON.stringify(name)}, but no plugin provides a preset of that name`,
        hint,
      });
    }
    if (twice || preset === undefined) return [];
    const section = sections[name];
    const given =
      section === undefined
        ? []
        : presetSettings.flatMap((key) => (section[key] === undefined ? [] : [[key, section[key]] as const]));
    // A signature with an error may be absent from the section; its path must not be open to the hook token then.
    const placeOf = (setting: readonly Segment[]) =>
      setting[0] === "signature" || given.some(([key]) => key === setting[0])
        ? renderPath(["hooks", name, ...setting])
        : at;
    return preset.mappings.map((mapping, place) => ({
      id: mapping.id ?? (place === 0 ? name : `${name}-${place + 1}`),
      at,
      preset: name,
      placeOf,
      settings: {
        enabled: true,
        action: "agent",
        body: "json",
        ...mapping,
        ...Object.fromEntries(given),
        match: { ...mapping.match, path: preset.path },
      },
    }));
  });
}

function compileDraft(
  source: MappingSource,
  shared: {
    readonly context: MappingContext;
    readonly problems: Problem[];
    readonly signatures: Map<string, SignedBy>;
  },
): Draft {
  const { context, problems } = shared;
  let faulty = hasError(context, source.at);
  const report: Report = (setting, message, { hint, warning = false, passing = warning } = {}) => {
    if (!passing) faulty = true;
    // Problems that the schema found are not reported again.
    if (setting.length > 0 && hasError(context, source.placeOf(setting))) return;
    problems.push({
      severity: warning ? "warning" : "error",
      path: source.placeOf(setting),
      message:
        source.preset === undefined
          ? message
          : [`the preset ${source.preset}:`, ...(setting.length === 0 ? [] : [setting.join(".")]), message].join(" "),
      hint,
      ...(passing ? {} : { section: source.at }),
    });
  };
  const { match, ...parts } = compileParts(source, report);
  const signedBy = compileSignedBy(source, shared, report);
  // If the schema dropped a part of the match, the rest would match more requests than intended.
  const whole = match === undefined || hasError(context, source.placeOf(["match"])) ? parts : { ...parts, match };
  checkMapping(source, whole, { ...context, broken: (setting) => hasError(context, source.placeOf(setting)) }, report);
  return { source, parts: whole, report, isFaulty: () => faulty, signedBy };
}

/** Whether the schema found an error at or below the path. */
function hasError({ problems }: MappingContext, at: string): boolean {
  return problems.some(
    ({ severity, path }) =>
      severity === "error" && (path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`)),
  );
}

/** Mappings with the same signature share it, so that a request is verified only once. */
function compileSignedBy(
  { settings, placeOf }: MappingSource,
  { context, signatures }: { readonly context: MappingContext; readonly signatures: Map<string, SignedBy> },
  report: Report,
): SignedBy | undefined {
  if (settings.signature === undefined) return undefined;
  const { secret: given, verifyToken: verify, ...rest } = settings.signature;
  if (settings.token !== undefined && rest.scheme !== "token") {
    report(["token"], "contradicts signature", { hint: "Keep the one that the sender uses." });
    return undefined;
  }
  const isPublished = rest.scheme === "jwt" && rest.jwksUrl !== undefined;
  const isAwaited = given === undefined && !isPublished;
  if (isAwaited && settings.challenge?.show !== true) {
    report(["signature", "secret"], "is missing");
    return undefined;
  }
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given];
  const readSecret = (value: unknown, at: readonly Segment[]): string | undefined => {
    try {
      const secret = context.secret(value, placeOf(at));
      const fault = judgeSecret(secret);
      if (secret.trim() === "") report(at, "is blank");
      else if (fault !== undefined)
        report(at, fault.message, { hint: fault.hint, warning: fault.severity === "warning" });
      if (fault?.severity !== "error") return secret;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      report(at, `cannot be read: ${String(error.details.reason ?? reasonOf(error))}`, { hint: error.hint });
    }
    return undefined;
  };
  const secrets = list.flatMap(
    (value, index) => readSecret(value, ["signature", "secret", ...(Array.isArray(given) ? [index] : [])]) ?? [],
  );
  if (secrets.length < list.length || (given !== undefined && secrets.length === 0)) return undefined;
  if (isAwaited)
    report(["signature", "secret"], "is missing, so every delivery is refused", {
      hint:
        `Let the platform test the address, and set it to the value that \`${programCommand} hooks ` +
        `challenges\` shows.`,
      warning: true,
    });
  const verifyToken = verify === undefined ? undefined : readSecret(verify, ["signature", "verifyToken"]);
  if (verify !== undefined && verifyToken === undefined) return undefined;
  const same = hash("sha256", JSON.stringify([rest, secrets, verifyToken]));
  const known = signatures.get(same);
  if (known !== undefined) return known;
  try {
    const signedBy = {
      signature: isAwaited ? compileAwaiting(rest) : compileSignature(rest, secrets, verifyToken),
    };
    signatures.set(same, signedBy);
    return signedBy;
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    report(["signature", error.key], error.message);
    return undefined;
  }
}

/** Checks the mappings against each other. */
/** Where no mapping has a credential, the missing hook token itself is the error. */
function reportNoCredential({ preset }: MappingSource, report: Report): void {
  if (preset === undefined)
    report(["signature"], "is missing, and so is hooks.token: no request could be accepted", {
      hint: "Set hooks.token, or give the mapping a signature or token of its own.",
    });
  // A plugin may submit what it finds by itself, which needs no credential.
  else
    report([], "has no signature, and there is no hooks.token, so it takes only what its plugin submits", {
      hint: "Set hooks.token, if the platform sends requests.",
      warning: true,
    });
}

function checkTogether(
  drafts: readonly Draft[],
  {
    signedPaths,
    isSigned,
  }: { readonly signedPaths: ReadonlySet<string>; readonly isSigned: (source: MappingSource) => boolean },
): void {
  const ids = new Map<string, string>();
  for (const [index, draft] of drafts.entries()) {
    const { source, report } = draft;
    const { settings } = source;
    const path = pathOf(settings);
    const taken = settings.id === undefined ? undefined : ids.get(settings.id);
    if (taken !== undefined)
      report(["id"], `is ${JSON.stringify(settings.id)}, which ${taken} already has`, {
        hint: "Give each mapping an id of its own.",
      });
    else if (settings.id !== undefined) ids.set(settings.id, source.at);
    if (!isSigned(source) && path !== undefined && signedPaths.has(path)) {
      report(
        ["match", "path"],
        `is ${JSON.stringify(path)}, where another mapping requires a signature or a token of its own`,
        {
          hint:
            "Give this one a signature too, or a path of its own: a path without the signature would " +
            "make it worthless.",
        },
      );
    }
    const before = drafts.slice(0, index).find((earlier) => covers(earlier, draft));
    if (before !== undefined) reportUnreachable(before, draft);
  }
}

/** Whether no request that `later` matches ever gets past `earlier`. */
function covers(earlier: Draft, later: Draft): boolean {
  if (earlier.parts.match === undefined || later.parts.match === undefined) return false;
  if (
    earlier.source.settings.body !== later.source.settings.body ||
    methodOf(earlier.source) !== methodOf(later.source)
  )
    return false;
  // With signatures, each mapping only receives the requests that its own signature verifies.
  return (
    earlier.signedBy === later.signedBy && sameSigned(earlier, later) && earlier.parts.match.covers(later.parts.match)
  );
}

const sameSigned = (a: Draft, b: Draft) =>
  (a.source.settings.signature === undefined) === (b.source.settings.signature === undefined);

function reportUnreachable({ source: before }: Draft, { source, report }: Draft): void {
  const who = before.settings.id === undefined ? before.at : `${before.at} (${before.settings.id})`;
  const message = `is never reached: ${who} takes every request that it would take`;
  const fix = { hint: "Put the narrower one first, or narrow the other one's match." };
  // A user's mapping for the path of a preset is meant to replace it.
  if (source.preset !== undefined && before.preset === undefined) {
    if (pathOf(before.settings) === undefined) report([], message, { ...fix, warning: true });
    return;
  }
  report([], message, fix);
}
