/** The operations as numbers, which is how they travel: a name that arrives from another thread is a new text, which has to be looked up before anything is found by it. */
import type { OperationName } from "./protocol.ts";

/** Each of them, or it does not compile; the code is the place. */
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
