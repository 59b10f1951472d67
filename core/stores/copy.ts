/**
 * Copies the whole state of one store to another, in batches, so that a copy that was interrupted continues where it
 * stopped.
 */
import { createHash } from "node:crypto";
import { HostError, type Json } from "../contract/index.ts";
import {
  type Copying,
  type CopyKind,
  type CopyRecord,
  copyKinds,
  copyNamespace,
  copyRecordKey,
  type Store,
} from "../state/index.ts";

const identityKey = "identity";
const batch = { rows: 500, characters: 1_000_000 } as const;

export type CopyCounts = Readonly<Record<CopyKind, number>>;

export interface CopyProgress {
  readonly phase: "copy" | "compare";
  readonly kind: CopyKind;
  /** Rows of the phase so far, including those of an earlier, interrupted run. */
  readonly rows: number;
  readonly total: number;
}

export interface CopyOptions {
  readonly source: Store;
  readonly target: Store;
  /** Names the target in messages. */
  readonly shown: string;
  newId(): string;
  /** Called when both states are equal. If it rejects, the copy stays unfinished. */
  beforeFinish?(): Promise<void>;
  onProgress?(progress: CopyProgress): void;
}

export interface CopyResult {
  readonly counts: CopyCounts;
  /** Whether an earlier run had begun the copy. */
  readonly resumed: boolean;
}

/**
 * The caller makes sure that no gateway uses the source. Throws `state_copy_refused` if the target cannot take the
 * copy, and `state_copy_differs` if the target does not contain what the source does.
 */
export async function copyState({
  source,
  target,
  shown,
  newId,
  beforeFinish = async () => {},
  onProgress = () => {},
}: CopyOptions): Promise<CopyResult> {
  const [from, to] = [copyingOf(source, shown), copyingOf(target, shown)];
  const identity = await source.update(copyNamespace, identityKey, (known) => known ?? newId());
  const { position, resumed } = await takeTarget(target, { to, source: String(identity), shown });
  const counts = await from.counts();
  const total = sum(Object.values(counts));
  await copyRows({ from, to, position }, (kind, copied) => {
    const earlier = resumed ? sum(copyKinds.slice(0, copyKinds.indexOf(kind)).map((each) => counts[each])) : 0;
    onProgress({ phase: "copy", kind, rows: Math.min(total, Math.max(copied, earlier)), total });
  });
  let compared = 0;
  const differences: string[] = [];
  for (const kind of copyKinds) {
    const count = (rows: number) => {
      compared += rows;
      onProgress({ phase: "compare", kind, rows: Math.min(total, Math.floor(compared / 2)), total });
    };
    const [here, there] = [await contentOf(from, kind, count), await contentOf(to, kind, count)];
    if (here.rows !== there.rows) differences.push(`${kind} has ${there.rows} of ${here.rows} rows`);
    else if (here.hashes !== there.hashes)
      differences.push(`${kind} has the same ${here.rows} rows, but not the same content`);
  }
  if (differences.length > 0)
    throw new HostError("state_copy_differs", { target: shown, reason: differences.join(", ") });
  await beforeFinish();
  await to.finish();
  return { counts, resumed };
}

/** Number of rows of each kind. */
export async function countState(store: Store, shown: string): Promise<CopyCounts> {
  return await copyingOf(store, shown).counts();
}

function copyingOf({ copying }: Store, target: string): Copying {
  if (copying !== undefined) return copying;
  const reason = "one of the two stores cannot be copied";
  throw new HostError("state_copy_refused", { target, reason, fix: "Use a store whose plugin supports copies." });
}

async function takeTarget(
  target: Store,
  { to, source, shown }: { readonly to: Copying; readonly source: string; readonly shown: string },
): Promise<{ readonly position: CopyRecord; readonly resumed: boolean }> {
  const known = (await target.get(copyNamespace, copyRecordKey)) as CopyRecord | null;
  if (known !== null) {
    if (known.source === source) return { position: known, resumed: true };
    const reason = "it contains an unfinished copy of another state";
    throw new HostError("state_copy_refused", {
      target: shown,
      reason,
      fix: "Name an empty target, or remove that copy.",
    });
  }
  const position: CopyRecord = { source, kind: copyKinds[0], after: null };
  if (await to.begin(position)) return { position, resumed: false };
  const reason = "it contains a state already, or a gateway uses it";
  throw new HostError("state_copy_refused", { target: shown, reason, fix: "Name an empty database or directory." });
}

async function copyRows(
  { from, to, position }: { readonly from: Copying; readonly to: Copying; readonly position: CopyRecord },
  onBatch: (kind: CopyKind, copied: number) => void,
): Promise<void> {
  let copied = 0;
  let { after } = position;
  for (const kind of copyKinds.slice(copyKinds.indexOf(position.kind))) {
    for (;;) {
      const { rows, next } = await from.read(kind, { after, ...batch });
      if (next === null) break;
      await to.write(kind, rows, { source: position.source, kind, after: next });
      after = next;
      copied += rows.length;
      onBatch(kind, copied);
    }
    after = null;
  }
}

const limit = 2n ** 128n;

/** The number of rows and the sum of their hashes, which do not depend on the order of the rows. */
async function contentOf(
  from: Copying,
  kind: CopyKind,
  onBatch: (rows: number) => void,
): Promise<{ readonly rows: number; readonly hashes: bigint }> {
  let total = 0;
  let hashes = 0n;
  let after: CopyRecord["after"] = null;
  for (;;) {
    const { rows, next } = await from.read(kind, { after, ...batch });
    if (next === null) return { rows: total, hashes };
    for (const row of rows) {
      const hash = createHash("sha256").update(canonical(row)).digest("hex").slice(0, 32);
      hashes = (hashes + BigInt(`0x${hash}`)) % limit;
    }
    total += rows.length;
    after = next;
    onBatch(rows.length);
  }
}

/** JSON whose members are in the order of their names. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
