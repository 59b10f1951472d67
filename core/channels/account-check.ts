/**
 * The check that a channel makes of its own accounts: what no schema can know, such as two accounts that exclude each
 * other.
 */
import type { PathOf } from "../access/index.ts";
import type { Problem } from "../config/index.ts";
import { reasonOf } from "../contract/index.ts";
import type { CalledChannel } from "../host/index.ts";

interface Settings {
  readonly definition: CalledChannel;
  readonly options: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** An account that was read. */
interface Checkable {
  readonly settings: Settings;
  readonly pathOf: PathOf;
  /** Another function of the channel failed for it, so its `check` is not called. */
  readonly isUnjudged: boolean;
}

/** The answer about an account, and the accounts before it that the channel was given. */
interface Checked {
  readonly before: readonly Settings[];
  readonly problems: readonly Problem[];
  /** The channel did not answer, so it is not asked again. */
  readonly failed?: true;
}

export const errorsIn = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === "error");

export const uncheckable = (path: string, error: unknown): Problem => ({
  severity: "error",
  path,
  message: `cannot be checked by its channel: ${reasonOf(error)}`,
});

/**
 * Calls `check` for each account, with the accounts before it that have no error. All are checked at once, so that a
 * channel that does not answer costs one deadline. When that finds an error in an account, those behind it are checked
 * again, without it.
 */
export async function checkAll<A extends Checkable>(
  accounts: readonly A[],
  /** Every problem of an account, with those of its check. */
  problemsOf: (account: A, between: readonly Problem[]) => readonly Problem[],
): Promise<readonly (readonly Problem[])[]> {
  let checked: readonly Checked[] = [];
  for (let isDone = false; !isDone; ) {
    const known = checked;
    const runs = accounts.map(
      (account, index) => errorsIn(problemsOf(account, known[index]?.problems ?? [])).length === 0,
    );
    const asked = accounts.map(async (account, index): Promise<Checked> => {
      const before = accounts
        .slice(0, index)
        .flatMap(({ settings }, other) => (runs[other] === true ? [settings] : []));
      const last = known[index];
      if (last !== undefined && (last.failed === true || isSameList(last.before, before))) return last;
      return { before, ...(account.isUnjudged ? { problems: [] } : await contradictions(account, before)) };
    });
    checked = await Promise.all(asked);
    isDone = checked.every((one, index) => one === known[index]);
  }
  return checked.map(({ problems }) => problems);
}

const isSameList = (one: readonly unknown[], other: readonly unknown[]) =>
  one.length === other.length && one.every((value, index) => value === other[index]);

/** Problems between valid options, which only the channel can find. */
async function contradictions(
  { settings: { definition, options, path }, pathOf }: Checkable,
  before: readonly Settings[],
): Promise<Omit<Checked, "before">> {
  try {
    const surroundings = {
      path,
      before: before.map(({ path: other, options: taken }) => ({ path: other, options: taken as never })),
    };
    const found = (await definition.check?.(options as never, surroundings)) ?? [];
    const problems = found.map(
      ({ option, message, hint, warning }): Problem => ({
        severity: warning === true ? "warning" : "error",
        path: pathOf([option]),
        message,
        hint,
      }),
    );
    return { problems };
  } catch (error) {
    return { problems: [uncheckable(path, error)], failed: true };
  }
}
