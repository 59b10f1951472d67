/**
 * Determines what a matching mapping does: renders the templates, applies the transform's overrides and validates the
 * result like the fields of a request. It has no side effects, so a dry run uses the same code.
 */
import { asSentence, type Json, programCommand } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import { type AgentDeps, type AgentRequest, parseAgent } from "../runs/agent.ts";
import { FieldProblem, type Fields, invalid, readBoolean, readChoice, readText } from "../runs/fields.ts";
import { type Wake, type WakeMode, wakeModes } from "../runs/wake.ts";
import { type AbsentField, absentFields, fieldOf } from "./absent-fields.ts";
import type { ForEach, Mapping } from "./compiled-mapping.ts";
import { readerOf } from "./payload-path.ts";
import { overridesIn, unknownFields } from "./transform-result.ts";
import { type HookDelivery, sourceOf } from "./webhook-delivery.ts";

/** The input of a transform. It receives a frozen copy. */
export interface TransformCall {
  readonly module: string;
  readonly export?: string;
  readonly context: HookDelivery;
}

export interface MappedDeps extends AgentDeps {
  /** Runs a transform. `undefined`: no override. `null`: nothing to do. Rejects if the module fails. */
  readonly transform: (call: TransformCall) => Promise<Json | undefined>;
}

/** One run that a delivery causes. */
export type MappedRun = {
  readonly index: number;
  readonly wrapped: boolean;
  /** What its templates name and the payload does not have. */
  readonly absent?: readonly AbsentField[];
} & (
  | { readonly action: "wake"; readonly wake: Wake }
  | { readonly action: "agent"; readonly asked: AgentRequest; readonly deliverOnly: boolean }
);

export interface Plan {
  readonly runs: readonly MappedRun[];
  /** The view of the delivery for each list element; absent if the delivery is not split. */
  readonly views?: readonly HookDelivery[];
  /** Why there are no runs. */
  readonly nothing?: "transform_ignored" | "nothing_to_do";
}

/** The error of a delivery that its mapping could not handle: the response, and what the operator should check. */
export class MappingFailure extends Error {
  override readonly name = "MappingFailure";
  readonly problem: HttpProblem;
  /** The configuration path of the cause. */
  readonly path: string;
  readonly hint: string;

  constructor(
    problem: HttpProblem,
    { path, hint, cause }: { readonly path: string; readonly hint: string; readonly cause?: unknown },
  ) {
    super(problem.message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.path = path;
    this.hint = hint;
  }
}

const maxElements = 200;
/**
 * Total size of all runs of one delivery, in characters. Every list element may carry the shared data, and templates
 * may repeat it.
 */
const maxTextCharacters = 2_097_152;

/** Plans the runs. Rejects with `MappingFailure`. If one element of a list fails, the whole list fails. */
export async function planRuns(mapping: Mapping, delivery: HookDelivery, deps: MappedDeps): Promise<Plan> {
  if (mapping.faulty) throw switchedOff(mapping);
  if (mapping.forEach !== undefined) return await planElements(mapping, mapping.forEach, delivery, deps);
  const run = await planRun(mapping, delivery, 0, deps);
  return run === null ? { runs: [], nothing: "transform_ignored" } : { runs: bounded(mapping, [run]) };
}

async function planElements(
  mapping: Mapping,
  forEach: ForEach,
  delivery: HookDelivery,
  deps: MappedDeps,
): Promise<Plan> {
  const views = elementViews(forEach, delivery, mapping);
  if (views.length === 0) return { runs: [], nothing: "nothing_to_do" };
  const planned = await Promise.all(views.map((view, index) => planRun(mapping, view, index, deps)));
  const runs = planned.filter((run) => run !== null);
  return runs.length === 0 ? { runs, nothing: "transform_ignored" } : { runs: bounded(mapping, runs), views };
}

/** Rejects texts that are too long before they are stored, scanned and shown to a model. */
function bounded(mapping: Mapping, runs: readonly MappedRun[]): readonly MappedRun[] {
  let characters = 0;
  for (const run of runs) characters += run.action === "wake" ? run.wake.text.length : run.asked.message.length;
  if (characters <= maxTextCharacters) return runs;
  const problem = new HttpProblem(
    "payload_too_large",
    `The result of this delivery has more than ${maxTextCharacters} characters.`,
  );
  const setting = mapping.settings.action === "wake" ? "textTemplate" : "messageTemplate";
  throw new MappingFailure(problem, {
    path: mapping.placeOf([setting]),
    hint: "Use the fields that matter instead of the whole payload.",
  });
}

function switchedOff(mapping: Mapping): MappingFailure {
  const problem = new HttpProblem(
    "unavailable",
    "The mapping of this hook is switched off by an error in its configuration; send it again later.",
    { "retry-after": "300" },
  );
  return new MappingFailure(problem, {
    path: mapping.at,
    hint: `\`${programCommand} config validate\` says what is wrong with it.`,
  });
}

/** The delivery once for each element, as if that were the only one in its list. */
function elementViews(forEach: ForEach, delivery: HookDelivery, mapping: Mapping): readonly HookDelivery[] {
  const keys = forEach.keysIn(delivery.payload);
  const list = readerOf(keys)(delivery.payload);
  const fail = (problem: HttpProblem, hint: string) =>
    new MappingFailure(problem, { path: mapping.placeOf(["forEach"]), hint });
  if (!Array.isArray(list))
    throw fail(invalid(`${forEach.path} must be a list.`), "Name a list that every payload of this sender has.");
  if (list.length > maxElements) {
    const problem = new HttpProblem("payload_too_large", `${forEach.path} has more than ${maxElements} elements.`);
    throw fail(problem, "The sender must send fewer at once.");
  }
  return list.map((element: Json) => {
    const payload = replaceAt(delivery.payload, keys, [element]);
    return { ...delivery, payload, source: sourceOf(payload) };
  });
}

function replaceAt(value: Json, [key, ...rest]: readonly string[], next: Json): Json {
  if (key === undefined) return next;
  if (Array.isArray(value))
    return value.map((item: Json, index) => (String(index) === key ? replaceAt(item, rest, next) : item));
  const record = value as { readonly [name: string]: Json };
  return { ...record, [key]: replaceAt(record[key] ?? null, rest, next) };
}

/** Plans one run; `null` if the transform says that there is nothing to do. */
async function planRun(
  mapping: Mapping,
  delivery: HookDelivery,
  index: number,
  deps: MappedDeps,
): Promise<MappedRun | null> {
  const rendered = renderFields(mapping, delivery);
  const freshSession = hasHole(mapping, delivery);
  const { transform } = mapping.settings;
  const transformed = transform && (await callTransform(mapping, transform, { delivery, deps }));
  if (transformed === null) return null;
  const { fields: override, unknown = [] }: Partial<Override> = transformed ?? {};
  try {
    return await parseRun(mapping, { rendered, override }, { index, deps, delivery, freshSession });
  } catch (error) {
    throw error instanceof HttpProblem ? explain(mapping, error, { override, unknown, delivery }) : error;
  }
}

/** The results of templates and fixed settings, under the field names of requests. */
export function renderFields(mapping: Mapping, delivery: HookDelivery): Fields {
  const fields: Record<string, unknown> = { ...mapping.fixed };
  for (const [field, template] of mapping.templates) {
    if (field !== "sessionKey" || !hasHole(mapping, delivery))
      fields[fieldOf[field] ?? field] = template.render(delivery);
  }
  return fields;
}

/**
 * Whether a part of the session key is missing in the delivery. The remaining key would be shared with every other such
 * delivery.
 */
function hasHole({ keyParts }: Mapping, delivery: HookDelivery): boolean {
  return keyParts.some((part) => part.render(delivery).trim() === "");
}

/** What a transform returned: the fields that it overrides, and a sentence for each unknown name. */
interface Override {
  readonly fields: Fields;
  readonly unknown: readonly string[];
}

async function callTransform(
  mapping: Mapping,
  transform: NonNullable<Mapping["settings"]["transform"]>,
  { delivery, deps }: { readonly delivery: HookDelivery; readonly deps: MappedDeps },
): Promise<Override | null | undefined> {
  const { module } = transform;
  const failed = (cause?: unknown) =>
    new MappingFailure(
      new HttpProblem("mapping_failed", `The transform ${module} of this hook failed; the gateway's log says why.`),
      {
        path: mapping.placeOf(["transform", "module"]),
        hint: `Correct ${module}, or create it if it is missing; it is read again for the next request.`,
        cause,
      },
    );
  let result: Json | undefined;
  try {
    result = await deps.transform({ module, context: delivery, export: transform.export });
  } catch (error) {
    throw failed(error);
  }
  if (result === undefined || result === null) return result;
  if (typeof result !== "object" || Array.isArray(result)) {
    throw failed(
      new Error(
        `it returned ${Array.isArray(result) ? "a list" : `a ${typeof result}`}, but must return an object, ` +
          "null or undefined",
      ),
    );
  }
  const given = result as { readonly [name: string]: Json };
  return { fields: overridesIn(given), unknown: unknownFields(given) };
}

async function parseRun(
  mapping: Mapping,
  { rendered, override }: { readonly rendered: Fields; readonly override: Fields | undefined },
  {
    index,
    deps,
    delivery,
    freshSession,
  }: {
    readonly index: number;
    readonly deps: MappedDeps;
    readonly delivery: HookDelivery;
    readonly freshSession: boolean;
  },
): Promise<MappedRun> {
  const { settings } = mapping;
  const fields = override === undefined ? rendered : { ...rendered, ...override };
  const action = readChoice(fields, "action", ["wake", "agent"]) ?? settings.action;
  const wanted = readBoolean(fields, "allowUnsafeExternalContent") ?? true;
  // A transform may restore the wrapper, but never remove it, because it processes content from strangers.
  const wrapped = !(settings.allowUnsafeExternalContent === true && wanted);
  const found = absentFields(mapping, delivery, { action, override });
  const base = { index, wrapped, ...(found.length === 0 ? {} : { absent: found }) };
  if (action === "wake") {
    const mode: WakeMode = readChoice(fields, "wakeMode", wakeModes) ?? "now";
    return { ...base, action, wake: { text: readText(fields, "text"), mode } };
  }
  const deliverOnly = readBoolean(fields, "deliverOnly") ?? settings.deliverOnly ?? false;
  const asked =
    deliverOnly && (override === undefined || !Object.hasOwn(override, "message"))
      ? shown(mapping, fields, delivery)
      : fields;
  return { ...base, action, deliverOnly, asked: await parseAgent(asked, deps, { by: "mapping", freshSession }) };
}

/**
 * A message that people read without an agent: values are shown letter by letter. A transform's message is Markdown
 * already.
 */
function shown(mapping: Mapping, fields: Fields, delivery: HookDelivery): Fields {
  const template = mapping.templates.find(([field]) => field === "messageTemplate")?.[1];
  return template === undefined ? fields : { ...fields, message: template.renderMarkdown(delivery) };
}

const settingOf: Readonly<Record<string, string>> = { message: "messageTemplate", text: "textTemplate" };

/** Adds the origin of the invalid field: the transform, or a setting of the mapping. */
function explain(
  mapping: Mapping,
  problem: HttpProblem,
  {
    override,
    unknown,
    delivery,
  }: {
    readonly override: Fields | undefined;
    readonly unknown: readonly string[];
    readonly delivery: HookDelivery;
  },
): MappingFailure {
  const { transform } = mapping.settings;
  const field = problem instanceof FieldProblem ? problem.field : undefined;
  const byTransform =
    transform !== undefined && field !== undefined && override !== undefined && Object.hasOwn(override, field);
  if (byTransform) {
    const message = `${problem.message.replace(/\.$/, "")} (reported by the transform ${transform.module}).`;
    return new MappingFailure(new HttpProblem(problem.code, message, problem.headers), {
      path: mapping.placeOf(["transform", "module"]),
      hint: `Correct what ${transform.module} returns.`,
    });
  }
  const setting = field === undefined ? [] : [settingOf[field] ?? field];
  const isTemplate = mapping.templates.some(([name]) => name === setting[0]);
  if (transform !== undefined && field !== undefined && settingOf[field] !== undefined && !isTemplate) {
    const { module } = transform;
    const message = `The transform ${module} returned no ${field}.`;
    return new MappingFailure(new HttpProblem(problem.code, message, problem.headers), {
      path: mapping.placeOf(["transform", "module"]),
      hint:
        unknown.length > 0
          ? `Correct what ${module} returns: ${unknown.map(asSentence).join(" ")}`
          : `Return ${field} from ${module}, or null if there is nothing to do. If ${module} reads headers, ` +
            "such as the name of the event, the delivery needs them.",
    });
  }
  const path = mapping.placeOf(setting);
  const absent = absentFields(mapping, delivery, { action: mapping.settings.action, override }).find(
    (one) => one.path === path,
  );
  const cause = absent === undefined ? "" : `${absent.detail}. `;
  return new MappingFailure(problem, { path, hint: `${cause}Compare the payload with what the mapping makes of it.` });
}
