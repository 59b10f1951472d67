/**
 * The arguments of a call with the digits that the model wrote. A call whose numbers are not what was written must not
 * run.
 */
import { exactDigits, inexactNumber, type Json, parseExactJson } from "../../contract/index.ts";

export interface ExactArguments {
  /** Numbers that JavaScript cannot represent are raw JSON. */
  readonly args: Json;
  /** Why the call is refused, for the model. */
  readonly problem?: string;
}

/** `written`: the text that the engine parsed. `isExact`: the tool takes raw JSON. */
export function exactArguments(given: Json, written: string | undefined, isExact: boolean): ExactArguments {
  const exact = written === undefined ? given : parsed(written, given);
  const args = isExact ? exact : roundedFractions(exact);
  const lost = inexactNumber(args, written === undefined);
  const place = lost ?? (isExact ? undefined : placeOfRaw(args));
  if (place === undefined) return { args };
  return {
    args,
    problem:
      `${place} is a number with more digits than this tool takes exactly. Pass it as a text if the ` +
      "parameters allow that.",
  };
}

function parsed(written: string, given: Json): Json {
  try {
    return parseExactJson(written) as Json;
  } catch {
    // A repaired text, such as one that the model did not end.
    return given;
  }
}

/**
 * Fractions with more digits than a number holds are rounded, as by every parser. Whole numbers are often ids, so they
 * stay exact.
 */
function roundedFractions(value: Json): Json {
  if (placeOfRaw(value) === undefined) return value;
  const digits = exactDigits(value);
  if (digits !== undefined) {
    const rounded = Number(digits);
    return Number.isFinite(rounded) &&
      (!Number.isInteger(rounded) || Number.isSafeInteger(rounded)) &&
      /[.eE]/.test(digits)
      ? rounded
      : value;
  }
  if (Array.isArray(value)) return value.map(roundedFractions);
  const entries = Object.entries(value as Readonly<Record<string, Json>>);
  return Object.fromEntries(entries.map(([key, one]) => [key, roundedFractions(one)]));
}

/** The place of raw JSON, which no store takes and no thread is handed. */
export function placeOfRaw(value: unknown, place = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (exactDigits(value) !== undefined) return place;
  for (const [key, one] of Object.entries(value)) {
    const found = placeOfRaw(one, Array.isArray(value) ? `${place}[${key}]` : place === "" ? key : `${place}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is shown and stored of arguments with raw JSON, which no store takes: their text, beside a copy without it. */
export function storableArguments(args: Json): { readonly args: Json; readonly written?: string } {
  if (placeOfRaw(args) === undefined) return { args };
  return { args: JSON.parse(JSON.stringify(args)) as Json, written: JSON.stringify(args, null, 2) };
}
