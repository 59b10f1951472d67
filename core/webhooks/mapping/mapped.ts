/**
 * From a mapping that matched to what it does: templates are rendered, a transform may override, and the result is
 * checked as a request's fields are. Nothing has happened when this returns, so a dry run is the same code.
 */
import { type Json, programCommand } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import { type AgentDeps, type AgentRequest, parseAgent } from "../runs/agent.ts";
import { FieldProblem, type Fields, invalid, readBoolean, readChoice, readText } from "../runs/fields.ts";
import { type Wake, type WakeMode, wakeModes } from "../runs/wake.ts";
import type { ForEach, Mapping, TemplateField } from "./mapping.ts";
import { type HookDelivery, sourceOf } from "./webhook-delivery.ts";

/** What a transform is handed; a frozen copy arrives on the other side. */
export interface TransformCall {
  readonly module: string;
  readonly export?: string;
  readonly context: HookDelivery;
}

export interface MappedDeps extends AgentDeps {
  /** `undefined`: no override. `null`: nothing to do. Rejects when the module failed. */
  readonly transform: (call: TransformCall) => Promise<Json | undefined>;
}

/** One thing that a delivery leads to. */
export type MappedRun = { readonly index: number; readonly wrapped: boolean } & (
  | { readonly action: "wake"; readonly wake: Wake }
  | { readonly action: "agent"; readonly asked: AgentRequest; readonly deliverOnly: boolean }
);

export interface Plan {
  readonly runs: readonly MappedRun[];
  /** What each element of the list saw; absent where the delivery is not taken apart. */
  readonly views?: readonly HookDelivery[];
  /** Why there are none. */
  readonly nothing?: "transform_ignored" | "nothing_to_do";
}

/** A delivery that its mapping could not handle: the answer, and what the operator should look at. */
export class MappingFailure extends Error {
  override readonly name = "MappingFailure";
  readonly problem: HttpProblem;
  /** Configuration path that decided. */
  readonly path: string;
  readonly hint: string;

  constructor(problem: HttpProblem, { path, hint, cause }: { readonly path: string; readonly hint: string; readonly cause?: unknown }) {
    super(problem.message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.path = path;
    this.hint = hint;
  }
}

const maxElements = 200;
/** Of all runs of one delivery: each element of a list may carry what it shares with the others, and a template may say it again. */
const maxTextCharacters = 2_097_152;

/**
 * Synchronous when there is nothing to wait for. Throws or rejects with `MappingFailure`; if one element of a list fails, the whole list
 * fails.
 */
export function planRuns(mapping: Mapping, delivery: HookDelivery, deps: MappedDeps): Plan | Promise<Plan> {
  if (mapping.faulty) throw switchedOff(mapping);
  if (mapping.forEach !== undefined) return planElements(mapping, mapping.forEach, delivery, deps);
  const run = planRun(mapping, delivery, 0, deps);
  return run instanceof Promise ? run.then((one) => planOf(mapping, one)) : planOf(mapping, run);
}

function planOf(mapping: Mapping, run: MappedRun | null): Plan {
  return run === null ? { runs: [], nothing: "transform_ignored" } : { runs: bounded(mapping, [run]) };
}

async function planElements(mapping: Mapping, forEach: ForEach, delivery: HookDelivery, deps: MappedDeps): Promise<Plan> {
  const views = elementViews(forEach, delivery, mapping);
  if (views.length === 0) return { runs: [], nothing: "nothing_to_do" };
  const planned = await Promise.all(views.map((view, index) => planRun(mapping, view, index, deps)));
  const runs = planned.filter((run) => run !== null);
  return runs.length === 0 ? { runs, nothing: "transform_ignored" } : { runs: bounded(mapping, runs), views };
}

/** Each text is stored, looked through and shown to a model: what is too long is refused before any of that. */
function bounded(mapping: Mapping, runs: readonly MappedRun[]): readonly MappedRun[] {
  let characters = 0;
  for (const run of runs) characters += run.action === "wake" ? run.wake.text.length : run.asked.message.length;
  if (characters <= maxTextCharacters) return runs;
  const problem = new HttpProblem("payload_too_large", `What this delivery leads to has more than ${maxTextCharacters} characters.`);
  const setting = mapping.settings.action === "wake" ? "textTemplate" : "messageTemplate";
  throw new MappingFailure(problem, {
    path: mapping.placeOf([setting]),
    hint: "Name the fields that matter, instead of the whole payload.",
  });
}

function switchedOff(mapping: Mapping): MappingFailure {
  const problem = new HttpProblem(
    "unavailable",
    "The mapping of this hook is switched off by an error in its configuration; send it again later.",
    { "retry-after": "300" },
  );
  return new MappingFailure(problem, { path: mapping.at, hint: `\`${programCommand} config validate\` says what is wrong with it.` });
}

/** The delivery once for each element, seen as the only one of its list. */
function elementViews(forEach: ForEach, delivery: HookDelivery, mapping: Mapping): readonly HookDelivery[] {
  const list = forEach.read(delivery.payload);
  const fail = (problem: HttpProblem, hint: string) => new MappingFailure(problem, { path: mapping.placeOf(["forEach"]), hint });
  if (!Array.isArray(list)) throw fail(invalid(`${forEach.path} must be a list.`), "Name a list that every payload of this sender has.");
  if (list.length > maxElements) {
    const problem = new HttpProblem("payload_too_large", `${forEach.path} has more than ${maxElements} elements.`);
    throw fail(problem, "The sender must send fewer at once.");
  }
  return list.map((element: Json) => {
    const payload = replaceAt(delivery.payload, forEach.keys, [element]);
    return { ...delivery, payload, source: sourceOf(payload) };
  });
}

function replaceAt(value: Json, [key, ...rest]: readonly string[], next: Json): Json {
  if (key === undefined) return next;
  if (Array.isArray(value)) return value.map((item: Json, index) => (String(index) === key ? replaceAt(item, rest, next) : item));
  const record = value as { readonly [name: string]: Json };
  return { ...record, [key]: replaceAt(record[key] ?? null, rest, next) };
}

/** `null`: the transform says that there is nothing to do. */
function planRun(mapping: Mapping, delivery: HookDelivery, index: number, deps: MappedDeps): MappedRun | Promise<MappedRun | null> {
  const rendered = renderFields(mapping, delivery);
  const reading = { index, deps, freshSession: hasHole(mapping, delivery) };
  const read = (override?: Fields): MappedRun | Promise<MappedRun> => {
    const explained = (error: unknown) => (error instanceof HttpProblem ? explain(mapping, error, override) : error);
    try {
      const run = parseRun(mapping, override === undefined ? rendered : { ...rendered, ...override }, reading);
      return run instanceof Promise ? run.catch((error: unknown) => Promise.reject(explained(error))) : run;
    } catch (error) {
      throw explained(error);
    }
  };
  const { transform } = mapping.settings;
  if (transform === undefined) return read();
  return callTransform(mapping, transform, { delivery, deps }).then((override) => (override === null ? null : read(override)));
}

const fieldOf: Readonly<Partial<Record<TemplateField, string>>> = { messageTemplate: "message", textTemplate: "text" };

/** What templates and settings say, under the names that requests use. */
export function renderFields(mapping: Mapping, delivery: HookDelivery): Fields {
  const fields: Record<string, unknown> = { ...mapping.fixed };
  for (const [field, template] of mapping.templates) {
    if (field !== "sessionKey" || !hasHole(mapping, delivery)) fields[fieldOf[field] ?? field] = template.render(delivery);
  }
  return fields;
}

/** Whether something that the session key is made of is not there: what the rest says would be shared with every other such delivery. */
function hasHole({ keyParts }: Mapping, delivery: HookDelivery): boolean {
  return keyParts.some((part) => part.render(delivery).trim() === "");
}

/** What of a mapping a transform may say; the way in (path, signature, body) is not part of it. */
const overridable = [
  "action",
  "message",
  "text",
  "name",
  "agentId",
  "sessionKey",
  "sessionMode",
  "wakeMode",
  "deliver",
  "channel",
  "to",
  "model",
  "thinking",
  "timeoutSeconds",
  "deliverOnly",
  "allowUnsafeExternalContent",
] as const;

async function callTransform(
  mapping: Mapping,
  transform: NonNullable<Mapping["settings"]["transform"]>,
  { delivery, deps }: { readonly delivery: HookDelivery; readonly deps: MappedDeps },
): Promise<Fields | null | undefined> {
  const { module } = transform;
  const failed = (cause?: unknown) =>
    new MappingFailure(new HttpProblem("mapping_failed", `The transform ${module} of this hook failed; the gateway's log says why.`), {
      path: mapping.placeOf(["transform", "module"]),
      hint: `Mend ${module}; it is read again for the next request.`,
      ...(cause === undefined ? {} : { cause }),
    });
  let result: Json | undefined;
  try {
    result = await deps.transform({ module, context: delivery, ...(transform.export === undefined ? {} : { export: transform.export }) });
  } catch (error) {
    throw failed(error);
  }
  if (result === undefined || result === null) return result;
  if (typeof result !== "object" || Array.isArray(result)) {
    throw failed(
      new Error(`it returned ${Array.isArray(result) ? "a list" : `a ${typeof result}`}, but must return an object, null or undefined`),
    );
  }
  const given = result as { readonly [name: string]: Json };
  const fields: Record<string, unknown> = {};
  for (const name of overridable) if (Object.hasOwn(given, name)) fields[name] = given[name];
  return fields;
}

function parseRun(
  mapping: Mapping,
  fields: Fields,
  { index, deps, freshSession }: { readonly index: number; readonly deps: MappedDeps; readonly freshSession: boolean },
): MappedRun | Promise<MappedRun> {
  const { settings } = mapping;
  const action = readChoice(fields, "action", ["wake", "agent"]) ?? settings.action;
  const wanted = readBoolean(fields, "allowUnsafeExternalContent") ?? true;
  // Only ever narrower: code that reads what strangers send cannot take the wrapper off.
  const wrapped = !(settings.allowUnsafeExternalContent === true && wanted);
  if (action === "wake") {
    const mode: WakeMode = readChoice(fields, "wakeMode", wakeModes) ?? "now";
    return { index, wrapped, action, wake: { text: readText(fields, "text"), mode } };
  }
  const deliverOnly = readBoolean(fields, "deliverOnly") ?? settings.deliverOnly ?? false;
  return parseAgent(fields, deps, { by: "mapping", freshSession }).then((asked) => ({ index, wrapped, action, deliverOnly, asked }));
}

const settingOf: Readonly<Record<string, string>> = { message: "messageTemplate", text: "textTemplate" };

/** Names the origin of the field: the transform, or a setting of the mapping. */
function explain(mapping: Mapping, problem: HttpProblem, override: Fields | undefined): MappingFailure {
  const { transform } = mapping.settings;
  const field = problem instanceof FieldProblem ? problem.field : undefined;
  const byTransform = transform !== undefined && field !== undefined && override !== undefined && Object.hasOwn(override, field);
  if (byTransform) {
    const message = `${problem.message.replace(/\.$/, "")} (said by the transform ${transform.module}).`;
    return new MappingFailure(new HttpProblem(problem.code, message, problem.headers), {
      path: mapping.placeOf(["transform", "module"]),
      hint: `Mend what ${transform.module} returns.`,
    });
  }
  const setting = field === undefined ? [] : [settingOf[field] ?? field];
  return new MappingFailure(problem, {
    path: mapping.placeOf(setting),
    hint: "Look at what the payload has, and at what the mapping makes of it.",
  });
}
