/**
 * Compiles the `match` of a mapping: tests deliveries, explains mismatches, and detects whether another match is
 * covered.
 */
import { reasonOf } from "../../contract/index.ts";
import { trimSlashes } from "./address.ts";
import { type Condition, explain, holds, matchesRule, type Rule, type Scalar } from "./condition.ts";
import { impliesAll } from "./coverage.ts";
import { PayloadPathError, parsePayloadPath, readerOf, renderPayloadPath } from "./payload-path.ts";
import { credentialHeaders, type HookDelivery } from "./webhook-delivery.ts";

export type WhereSettings = Scalar | readonly Scalar[] | { readonly exists: boolean } | { readonly matches: string };

export interface MatchSettings {
  readonly path?: string | undefined;
  readonly source?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly where?: Readonly<Record<string, WhereSettings>> | undefined;
}

export interface Match {
  /** The path without slashes at its ends; absent: any path. */
  readonly path?: string;
  /** The conditions, which must all hold. */
  readonly conditions: readonly Condition[];
  /** Returns `true`, or a short sentence for people that says why the delivery does not match. */
  test(delivery: HookDelivery): true | string;
  /**
   * Whether this match accepts every delivery that `other` accepts. `true` is certain; `false` may also mean unknown.
   */
  covers(other: Match): boolean;
}

/** A problem in a `match`, in the form of configuration problems. */
export interface MatchProblem {
  /** The path below `match`: `["where", "a.b", "matches"]`. */
  readonly at: readonly string[];
  /** What is wrong, without the path and a full stop. */
  readonly message: string;
  readonly hint?: string;
}

export class MatchError extends Error {
  override readonly name = "MatchError";
  readonly problems: readonly MatchProblem[];

  constructor(problems: readonly MatchProblem[]) {
    super(problems.map(({ at, message }) => `${at.join(".")}: ${message}`).join("; "));
    this.problems = problems;
  }
}

/** Compiles a match. Throws `MatchError` with all problems. */
export function compileMatch(settings: MatchSettings = {}): Match {
  const found = [
    ...(settings.path === undefined ? [] : [compilePath(settings.path)]),
    ...(settings.source === undefined ? [] : [compileSource(settings.source)]),
    ...Object.entries(settings.headers ?? {}).map(([name, values]) => compileHeader(name, values)),
    ...Object.entries(settings.where ?? {}).map(([path, where]) => compileField(path, where)),
  ];
  const problems = found.filter((item) => "message" in item);
  if (problems.length > 0) throw new MatchError(problems);
  const conditions = found.filter((item) => "rule" in item);
  return {
    ...(settings.path === undefined ? {} : { path: normalPath(settings.path) }),
    conditions,
    test(delivery) {
      for (const condition of conditions) {
        const value = condition.read(delivery);
        if (!holds(condition, value)) return explain(condition, value);
      }
      return true;
    },
    covers: (other) => impliesAll(other.conditions, conditions),
  };
}

type Compiled = Condition | MatchProblem;

function normalPath(path: string): string {
  return trimSlashes(path.trim());
}

function compilePath(given: string): Compiled {
  const path = normalPath(given);
  const at = ["path"];
  if (path === "")
    return {
      at,
      message: `is ${JSON.stringify(given)}, which contains no name`,
      hint: "Leave match.path out to take every name.",
    };
  if (path === "*") {
    return {
      at,
      message: `is ${JSON.stringify(given)}, and paths have no wildcards`,
      hint: "Leave match.path out to take every name.",
    };
  }
  if (/[?#]/.test(path)) return { at, message: `is ${JSON.stringify(given)}, but must be a path without query` };
  if (!/^[!-~]+$/.test(path)) {
    return {
      at,
      message: `is ${JSON.stringify(given)}, but is compared with the address literally`,
      hint: `Write it as ${encoded(path)}.`,
    };
  }
  return {
    label: "path",
    subject: ["path"],
    read: (delivery) => delivery.path,
    rule: { kind: "values", values: [path] },
  };
}

/** Encodes a path as browsers and other clients do. Existing percent-encoding is kept. */
function encoded(path: string): string {
  return encodeURI(path.toWellFormed()).replaceAll("%25", "%");
}

function compileSource(source: string): Compiled {
  if (source.trim() === "")
    return { at: ["source"], message: "is blank", hint: "Leave match.source out to take every source." };
  return payloadCondition("source", ["source"], { kind: "values", values: [source] });
}

function compileHeader(given: string, values: string | readonly string[]): Compiled {
  const name = given.toLowerCase();
  const at = ["headers", given];
  if (!/^[\w!#$%&'*+\-.^`|~]+$/.test(name)) return { at, message: "is not a header name" };
  if (credentialHeaders.has(name)) {
    return {
      at,
      message: "is a header that mappings never see",
      hint: "Credentials are checked before the mappings are tried.",
    };
  }
  if (values.length === 0 && typeof values !== "string")
    return { at, message: "is an empty list, which nothing matches" };
  const rule: Rule = { kind: "values", values: typeof values === "string" ? [values] : values };
  const read = readerOf([name]);
  return { label: `headers.${name}`, subject: ["headers", name], read: ({ headers }) => read(headers), rule };
}

function compileField(path: string, where: WhereSettings): Compiled {
  const at = ["where", path];
  try {
    const keys = parsePayloadPath(path);
    const rule = compileRule(where, at);
    return "message" in rule ? rule : payloadCondition(renderPayloadPath(["payload", ...keys]), keys, rule);
  } catch (error) {
    if (error instanceof PayloadPathError) return { at, message: `is not a payload path: ${error.message}` };
    throw error;
  }
}

function compileRule(where: WhereSettings, at: readonly string[]): Rule | MatchProblem {
  if (typeof where !== "object" || where === null) return { kind: "values", values: [where] };
  if ("exists" in where) return { kind: "exists", exists: where.exists };
  if ("matches" in where) return compilePattern(where.matches, [...at, "matches"]);
  return where.length === 0
    ? { at, message: "is an empty list, which nothing matches" }
    : { kind: "values", values: where };
}

function compilePattern(pattern: string, at: readonly string[]): Rule | MatchProblem {
  try {
    return matchesRule(pattern);
  } catch (error) {
    const hint = "Patterns are run in linear time: no look-around and no back-references.";
    return { at, message: `is not a pattern: ${reasonOf(error).replace(/^error parsing regexp: /, "")}`, hint };
  }
}

function payloadCondition(label: string, keys: readonly string[], rule: Rule): Condition {
  const read = readerOf(keys);
  return { label, subject: ["payload", ...keys], read: ({ payload }) => read(payload), rule };
}
