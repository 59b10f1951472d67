/** The rules of a contract as tests of vitest, and the skips of those that a plugin cannot pass. */
import { describe, expect, test } from "vitest";

/** Longer than the rules wait for what has to come. */
const timeoutMs = 60_000;

interface Titled {
  /** The group, ` > `, and the name in it. */
  readonly title: string;
  /**
   * It looks at the whole process, plays its time, or would be misled by one that is busy: no other is tried beside it.
   */
  readonly alone?: true;
}

/** A test of a contract that a plugin cannot pass, and why that is right. */
export interface ContractSkip {
  /** Its whole title, such as `parse > never throws`. */
  readonly test: string;
  /** One sentence. A skip without one fails. */
  readonly reason: string;
}

/**
 * Defines one test for each rule, in groups under the plugin's id. `concurrent`: those that need not be alone are tried
 * at the same time, last.
 */
export function defineContract<R extends Titled>({
  id,
  rules,
  skip = [],
  attempt,
  concurrent = false,
}: {
  readonly id: string;
  readonly rules: readonly R[];
  readonly skip: readonly ContractSkip[] | undefined;
  readonly attempt: (rule: R) => Promise<void>;
  readonly concurrent?: boolean | undefined;
}): void {
  const defineGroups = (some: readonly R[], atOnce: boolean) => {
    for (const [group, of] of Map.groupBy(some, ({ title }) => title.split(" > ")[0] ?? "")) {
      describe(group, { concurrent: atOnce }, () => {
        for (const rule of of) {
          const reason = skip.find((one) => one.test === rule.title)?.reason;
          test(rule.title.slice(group.length + 3), { timeout: timeoutMs }, async (context) => {
            if (reason !== undefined && reason.trim() !== "") context.skip(reason);
            await attempt(rule);
          });
        }
      });
    }
  };
  describe(id, { concurrent: false }, () => {
    const inOrder = (rule: R) => !concurrent || rule.alone === true;
    defineGroups(rules.filter(inOrder), false);
    test("each skip names a test and gives a reason", () => {
      expect(problemsOf(rules, skip)).toEqual([]);
    });
    defineGroups(
      rules.filter((rule) => !inOrder(rule)),
      true,
    );
  });
}

/** What is wrong with the skips, in a sentence each. */
export function problemsOf(rules: readonly Titled[], skip: readonly ContractSkip[]): readonly string[] {
  const titles = new Set(rules.map(({ title }) => title));
  return skip.flatMap(({ test: title, reason }) => {
    if (!titles.has(title)) return [`There is no test "${title}" for this plugin.`];
    return reason.trim() === "" ? [`The skip of "${title}" gives no reason.`] : [];
  });
}
