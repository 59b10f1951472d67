/**
 * Operations are sent between threads as numbers, because a name from another thread is a new string that must be hashed before each
 * look-up.
 */
import type { OperationName } from "./protocol.ts";

/** Contains every operation, which the type enforces. The index is the code. */
const listed: Readonly<Record<OperationName, true>> = {
  accept: true,
  say: true,
  settle: true,
  claim: true,
  sending: true,
  notSent: true,
  doubted: true,
  sent: true,
  unsendable: true,
  handBack: true,
  requeue: true,
  takeQueued: true,
  leftOutReported: true,
  setPreview: true,
  begin: true,
  replay: true,
  updateSession: true,
  moveChat: true,
  set: true,
  delete: true,
  swap: true,
  prune: true,
  dedupeExcess: true,
  endOverdue: true,
  shrink: true,
  deleteSession: true,
  editTranscript: true,
  removeEvents: true,
  removeSentTo: true,
  pass: true,
};

const names = Object.keys(listed) as OperationName[];
const codes = Object.fromEntries(names.map((name, code) => [name, code])) as Readonly<Record<OperationName, number>>;

export function codeOf(name: OperationName): number {
  return codes[name];
}

export function nameOf(code: number): OperationName {
  const name = names[code];
  if (name === undefined) throw new Error(`No operation has the code ${code}.`);
  return name;
}
