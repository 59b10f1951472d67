/**
 * Validates a value in one pass: checks it, applies defaults, drops invalid parts and lists the problems.
 *
 * TypeBox's own validator takes 50 ms to import and supports neither "did you mean" nor our fallbacks. It is used only
 * for keywords that this code does not support, which no bundled schema contains.
 */
import type { Static, TSchema } from "typebox";
import { forbiddenKeys, parsePath, renderPath, type Segment } from "../path.ts";
import type { Problem } from "../problem.ts";
import { isMap, nodeOf, propertyOf, type SchemaNode } from "../schema-node.ts";
import { describeAllowed, describeValue } from "./describe.ts";
import { checkForeign, isForeign } from "./foreign.ts";
import { suggestKey } from "./suggest.ts";

export interface SectionOptions {
  /** Keys directly in the value that contain a secret. Problems never quote their values. */
  readonly secrets?: readonly string[];
  /** `keep`: unknown keys of the value belong to another schema and are kept without a warning. */
  readonly unknownKeys?: "warn" | "keep";
  /** Keys that another schema defines, for suggestions about unknown keys. */
  readonly known?: readonly string[];
}

export interface CheckedSection<T> {
  /** The value with defaults. Use it only if no problem is an error. */
  readonly value: T;
  readonly problems: readonly Problem[];
}

/**
 * Checks the options of a plugin, or of one account of a channel, by their own schema.
 *
 * @example
 * const { value, problems } = validateSection(definition.options, raw, "plugins.entries.hello.options");
 */
export function validateSection<S extends TSchema>(
  schema: S,
  value: unknown,
  path: string,
  options: SectionOptions = {},
): CheckedSection<Static<S>> {
  const checked = checkValue(nodeOf(schema), value, parsePath(path) ?? [path], options);
  return { value: checked.value as Static<S>, problems: checked.problems };
}

/** Like `validateSection`, with the path in segments. `value` is `undefined` if nothing valid remains. */
export function checkValue(
  schema: SchemaNode,
  value: unknown,
  at: readonly Segment[],
  options: SectionOptions = {},
): CheckedValue {
  const problems: PlacedProblem[] = [];
  const origins = new WeakMap<readonly unknown[], readonly number[]>();
  const result = walk(schema, value, { at, problems, root: at.length, options, secret: false, origins });
  const indexOf = (list: readonly unknown[], index: number) => origins.get(list)?.[index] ?? index;
  return { value: result === absent ? undefined : result, problems, indexOf };
}

interface CheckedValue extends CheckedSection<unknown> {
  readonly problems: readonly PlacedProblem[];
  /** Returns the index that an element of a returned list had before invalid elements were dropped. */
  readonly indexOf: (list: readonly unknown[], index: number) => number;
}

/** A problem with its path in segments, so that its line can be found. */
export interface PlacedProblem extends Problem {
  readonly at: readonly Segment[];
}

/** Marks an invalid value for which the schema has no default or fallback. */
const absent = Symbol("absent");

interface Walk {
  readonly at: readonly Segment[];
  readonly problems: PlacedProblem[];
  readonly root: number;
  readonly options: SectionOptions;
  readonly secret: boolean;
  readonly origins: WeakMap<readonly unknown[], readonly number[]>;
  /** The value is a default: no default takes its place where it is wrong, for that would be itself. */
  readonly isDefault?: true;
}

function walk(schema: SchemaNode, value: unknown, to: Walk): unknown {
  if (value === undefined) return defaultOf(schema, to);
  const here: Walk = schema.secret ? { ...to, secret: true } : to;
  if (isForeign(schema)) return walkForeign(schema, value, here);
  if (schema.anyOf) return walkUnion(schema, schema.anyOf, value, here);
  if (schema.enum) return schema.enum.includes(value as string) ? value : wrong(schema, value, here);
  if (schema.const !== undefined) return value === schema.const ? value : wrong(schema, value, here);
  switch (schema.type) {
    case "string":
      return isText(schema, value) ? value : wrong(schema, value, here);
    case "number":
    case "integer":
      return isNumber(schema, value) ? value : wrong(schema, value, here);
    case "boolean":
      return typeof value === "boolean" ? value : wrong(schema, value, here);
    case "null":
      return value === null ? value : wrong(schema, value, here);
    case "array":
      return walkArray(schema, value, here);
    case "object":
      return walkObject(schema, value, here);
    default:
      return cloneJson(value);
  }
}

function defaultOf(schema: SchemaNode, to: Walk): unknown {
  if (schema.default === undefined) return absent;
  const value = typeof schema.default === "function" ? (schema.default as () => unknown)() : schema.default;
  return walk(schema, cloneJson(value), { ...to, isDefault: true });
}

function wrong(schema: SchemaNode, value: unknown, to: Walk): unknown {
  const allowed = describeAllowed(schema);
  const message = to.secret ? `must be ${allowed}` : `is ${describeValue(value)}, but must be ${allowed}`;
  report(to, "error", message, (to.secret ? undefined : quotesHint(schema, value)) ?? patternHint(schema));
  return insteadOf(schema, to);
}

function insteadOf(schema: SchemaNode, to: Walk): unknown {
  if (to.isDefault) return absent;
  return schema.fallback === undefined ? defaultOf(schema, to) : walk(schema, cloneJson(schema.fallback), to);
}

function report(to: Walk, severity: Problem["severity"], message: string, hint?: string): void {
  to.problems.push({ severity, at: to.at, path: renderPath(to.at), message, hint });
}

/** Suggests a fix for the most common mistake: superfluous or missing quotes. */
function quotesHint(schema: SchemaNode, value: unknown): string | undefined {
  if (typeof value === "number" && schema.type === "string") return "Put it in double quotes.";
  if (typeof value !== "string") return undefined;
  const numeric =
    (schema.type === "integer" || schema.type === "number") && value.trim() !== "" && isNumber(schema, Number(value));
  const truth = schema.type === "boolean" && (value === "true" || value === "false");
  return numeric || truth ? "Write it without quotes." : undefined;
}

/** A regular expression alone does not say what to write, so the description of the option goes with it. */
function patternHint({ pattern, expects, description }: SchemaNode): string | undefined {
  return pattern === undefined || expects !== undefined || description === undefined
    ? undefined
    : `The option is: ${description}`;
}

function isText(schema: SchemaNode, value: unknown): value is string {
  if (typeof value !== "string") return false;
  if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    return false;
  return schema.pattern === undefined || new RegExp(schema.pattern, "u").test(value);
}

function isNumber(schema: SchemaNode, value: unknown): value is number {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  if (schema.type === "integer" && !Number.isSafeInteger(value)) return false;
  if (value < (schema.minimum ?? Number.NEGATIVE_INFINITY) || value > (schema.maximum ?? Number.POSITIVE_INFINITY))
    return false;
  if (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) return false;
  if (schema.exclusiveMaximum !== undefined && value >= schema.exclusiveMaximum) return false;
  return schema.multipleOf === undefined || Number.isInteger(value / schema.multipleOf);
}

function walkArray(schema: SchemaNode, value: unknown, to: Walk): unknown {
  if (!Array.isArray(value)) return wrong(schema, value, to);
  const count = value.length;
  const isRepeated = schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < count;
  // Elements are checked one by one: dropping an invalid entry never makes a list more permissive than intended.
  const items = schema.items as SchemaNode | undefined;
  const validItems: unknown[] = [];
  const origin: number[] = [];
  value.forEach((item, index) => {
    const place = { ...to, at: [...to.at, index] };
    const checked = items ? walkItem(items, item ?? null, place) : cloneJson(item);
    if (checked === absent) return;
    validItems.push(checked);
    origin.push(index);
  });
  to.origins.set(validItems, origin);
  if (count < (schema.minItems ?? 0) || count > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    return wrong(schema, value, to);
  if (!isRepeated) return validItems;
  report(to, "error", "contains the same element twice");
  return insteadOf(schema, to);
}

/**
 * Ignores empty texts in lists whose elements must not be empty, because forms and templates leave them behind. An
 * empty secret is still an error.
 */
function walkItem(schema: SchemaNode, item: unknown, to: Walk): unknown {
  if (item !== "" || to.secret) return walk(schema, item, to);
  const problems: PlacedProblem[] = [];
  const checked = walk(schema, item, { ...to, problems });
  if (countErrors(problems) === 0) return checked;
  report(to, "warning", "is empty and is ignored", "Remove it.");
  return absent;
}

function walkObject(schema: SchemaNode, value: unknown, to: Walk): unknown {
  if (!isRecord(value)) return wrong(schema, value, to);
  const errorsBefore = countErrors(to.problems);
  // Keys of a map may come from outside. Without a prototype, looking up `constructor` finds nothing.
  const result: Record<string, unknown> = isMap(schema) ? Object.create(null) : {};
  let whole = true;
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const child = { ...to, at: [...to.at, key], secret: to.secret || isNamedSecret(key, to) };
    const checked = walk(inner, given, child);
    if (checked !== absent) result[key] = checked;
    else if (schema.required?.includes(key)) {
      whole = false;
      if (given === undefined)
        report(child, "error", `is missing; it must be ${describeAllowed(inner)}`, patternHint(inner));
    }
  }
  for (const key of Object.keys(value)) {
    if (schema.properties && Object.hasOwn(schema.properties, key)) continue;
    const checked = walkFreeKey(schema, key, value[key], to);
    if (checked !== absent) result[key] = checked;
  }
  if (schema.whole && countErrors(to.problems) > errorsBefore) return absent;
  return whole ? result : insteadOf(schema, to);
}

function walkFreeKey(schema: SchemaNode, key: string, value: unknown, to: Walk): unknown {
  const child = { ...to, at: [...to.at, key], secret: to.secret || isNamedSecret(key, to) };
  if (forbiddenKeys.has(key)) {
    report(child, "warning", "this key is never used", "Remove it.");
    return absent;
  }
  const inner = propertyOf(schema, key);
  if (inner) return walk(inner, value, child);
  const isAllowed =
    schema.additionalProperties === true || (to.options.unknownKeys === "keep" && to.at.length === to.root);
  if (isAllowed) return cloneJson(value);
  const elsewhere = to.at.length === to.root ? (to.options.known ?? []) : [];
  const meant =
    schema.synonyms !== undefined && Object.hasOwn(schema.synonyms, key)
      ? `Did you mean ${schema.synonyms[key]}?`
      : undefined;
  const nearest = meant ?? suggestKey(key, [...Object.keys(schema.properties ?? {}), ...elsewhere]);
  report(child, "warning", "this key is not known", nearest ?? (schema.isExtended === true ? undeclared : undefined));
  return absent;
}

const undeclared =
  "No plugin that is loaded declares it. Name the plugin that does in plugins.load, or remove the key.";

function walkUnion(schema: SchemaNode, branches: readonly SchemaNode[], value: unknown, to: Walk): unknown {
  const tries = branches.map((branch) => {
    const problems: PlacedProblem[] = [];
    return { branch, problems, result: walk(branch, value, { ...to, problems }) };
  });
  const fits = tries.filter(
    (one) => countErrors(one.problems) === 0 && !(one.branch.additionalProperties === false && one.problems.length > 0),
  );
  const best = fits.sort((a, b) => a.problems.length - b.problems.length)[0];
  if (best) {
    to.problems.push(...best.problems);
    return best.result;
  }
  // In a union of objects, report inner problems only if it is clear which object was meant.
  const alike = tries.filter((one) => one.branch.type !== undefined && one.branch.type === containerType(value));
  const meant = alike.length === 1 && !to.secret ? alike[0] : undefined;
  if (!meant || countErrors(meant.problems) === 0) return wrong(schema, value, to);
  to.problems.push(...meant.problems);
  return schema.fallback === undefined && meant.result !== absent ? meant.result : insteadOf(schema, to);
}

function walkForeign(schema: SchemaNode, value: unknown, to: Walk): unknown {
  const checked = checkForeign(schema, cloneJson(value));
  for (const problem of checked.errors) report({ ...to, at: [...to.at, ...problem.at] }, "error", problem.message);
  return checked.errors.length === 0 ? checked.value : insteadOf(schema, to);
}

const containerType = (value: unknown) => (Array.isArray(value) ? "array" : isRecord(value) ? "object" : undefined);

const isNamedSecret = (key: string, to: Walk) =>
  to.at.length === to.root && (to.options.secrets?.includes(key) ?? false);

const countErrors = (problems: readonly Problem[]) => problems.filter((problem) => problem.severity === "error").length;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Copies JSON without forbidden keys, so that the copy shares nothing and cannot reach a prototype. */
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneJson);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (!forbiddenKeys.has(key)) copy[key] = cloneJson(value[key]);
  return copy;
}
