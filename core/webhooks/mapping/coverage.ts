/**
 * Decides whether some conditions follow from others, which shows that a mapping can never be reached.
 *
 * It considers each value and the values around it: a value with members is not a text, and it exists. A positive
 * answer is certain. Two patterns are considered equal only if their texts are equal.
 */
import type { Condition, Rule, Scalar } from "./condition.ts";

type MatchesRule = Extract<Rule, { readonly kind: "matches" }>;

/** Everything that conditions state about one value. */
interface Fact {
  readonly subject: readonly string[];
  readonly exists: ReadonlySet<boolean>;
  /** The only possible values; absent if there is no such list. */
  readonly values?: readonly Scalar[];
  readonly patterns: readonly MatchesRule[];
}

/** Whether every delivery that satisfies all of `given` also satisfies all of `wanted`. */
export function impliesAll(given: readonly Condition[], wanted: readonly Condition[]): boolean {
  const facts = factsOf(given);
  return isContradiction(facts) || wanted.every((condition) => follows(facts, condition));
}

function factsOf(conditions: readonly Condition[]): readonly Fact[] {
  const groups = Map.groupBy(conditions, ({ subject }) => JSON.stringify(subject));
  return [...groups.values()].map((group) => {
    const rules = group.map(({ rule }) => rule);
    const patterns = rules.filter((rule) => rule.kind === "matches");
    const [first, ...others] = rules.filter((rule) => rule.kind === "values").map(({ values }) => values);
    const values = first?.filter(
      (value) => others.every((list) => list.includes(value)) && patterns.every(({ accepts }) => accepts(value)),
    );
    return {
      subject: group[0]?.subject ?? [],
      exists: new Set(rules.flatMap((rule) => (rule.kind === "exists" ? [rule.exists] : [true]))),
      patterns,
      values,
    };
  });
}

function isContradiction(facts: readonly Fact[]): boolean {
  return facts.some(
    (fact) =>
      fact.values?.length === 0 ||
      fact.exists.size > 1 ||
      (fact.exists.has(true) && facts.some((outer) => isInside(fact.subject, outer.subject) && hasNoParts(outer))),
  );
}

function follows(facts: readonly Fact[], { subject, rule }: Condition): boolean {
  const same = facts.find((fact) => isSame(fact.subject, subject));
  if (rule.kind === "values") return same?.values?.every((value) => rule.values.includes(value)) ?? false;
  if (rule.kind === "matches") {
    return (
      same?.values?.every((value) => rule.accepts(value)) ??
      same?.patterns.some(({ pattern }) => pattern === rule.pattern) ??
      false
    );
  }
  if (rule.exists)
    return facts.some(
      (fact) => fact.exists.has(true) && (isSame(fact.subject, subject) || isInside(fact.subject, subject)),
    );
  return (
    same?.exists.has(false) === true || facts.some((outer) => isInside(subject, outer.subject) && hasNoParts(outer))
  );
}

/** Whether the value has no members: it is a text, a number or similar, or it does not exist. */
function hasNoParts({ values, patterns, exists }: Fact): boolean {
  return values !== undefined || patterns.length > 0 || exists.has(false);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((key, index) => one[index] === key);
}

function isInside(inner: readonly string[], outer: readonly string[]): boolean {
  return inner.length > outer.length && outer.every((key, index) => inner[index] === key);
}
