/** Reads fields of a request body. A field of the wrong type is rejected by name, never replaced by a default. */
import type { Json } from "../../contract/index.ts";
import { HttpProblem, type ProblemCode } from "../../http/index.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The error of an invalid field. The field's name shows where it came from. */
export class FieldProblem extends HttpProblem {
  readonly field: string;

  constructor(code: ProblemCode, field: string, message: string) {
    super(code, message);
    this.field = field;
  }
}

export function invalid(message: string): HttpProblem {
  return new HttpProblem("invalid_payload", message);
}

function wrong(field: string, rest: string): FieldProblem {
  return new FieldProblem("invalid_payload", field, `${field} ${rest}`);
}

export function readFields(body: unknown): Fields {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalid("The body must be a JSON object.");
  return body as Fields;
}

/** Reads an own property; keys of the prototype are ignored. */
function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Reads a required, non-blank string without trimming it. */
export function readText(fields: Fields, name: string): string {
  const value = own(fields, name);
  if (value === undefined) throw wrong(name, "is required.");
  if (typeof value !== "string") throw wrong(name, "must be a string.");
  if (value.trim() === "") throw wrong(name, "must not be blank.");
  return value;
}

/** Reads an optional string and trims it. With `allowBlank`, a blank string counts as absent. */
export function readString(
  fields: Fields,
  name: string,
  options: { readonly maxLength: number; readonly allowBlank?: boolean },
): string | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw wrong(name, "must be a string.");
  const text = value.trim();
  if (text === "") {
    if (options.allowBlank === true) return undefined;
    throw wrong(name, "must not be blank.");
  }
  if (text.length > options.maxLength) throw wrong(name, `must have at most ${options.maxLength} characters.`);
  return text;
}

export function readBoolean(fields: Fields, name: string): boolean | undefined {
  const value = own(fields, name);
  if (value === undefined || typeof value === "boolean") return value;
  throw wrong(name, "must be true or false.");
}

export function readChoice<T extends string>(fields: Fields, name: string, choices: readonly T[]): T | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(name, `must be one of ${choices.join(", ")}.`);
  return found;
}

/** Reads an optional object. */
export function readObject(fields: Fields, name: string): { readonly [key: string]: Json } | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(name, "must be an object.");
  return value as { readonly [key: string]: Json };
}

/** Reads an optional number above zero and at most `max`. */
export function readPositive(fields: Fields, name: string, max: number): number | undefined {
  const value = own(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(name, "must be a number.");
  if (value <= 0 || value > max) throw wrong(name, `must be above 0 and at most ${max}.`);
  return value;
}
