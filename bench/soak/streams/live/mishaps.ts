/** Faults between the gateway and the platform, and the result of each call, as determined by a stream's seed. */
import type { Mishap, RecordedCall } from "../../../../plugins/playground/platform/index.ts";
import type { Random } from "../../random.ts";
import type { ChatCall } from "../judge.ts";

/** Calls that change what people see in a chat. */
const methods = ["sendMessage", "editMessageText", "deleteMessage"];

/** Milliseconds that a call takes to arrive. */
const onItsWay = (random: Random) => Math.round(random.between(5, 205));

const mishaps: readonly ((random: Random) => Mishap)[] = [
  (random) => ({ kind: "flood", retryAfter: random.whole(1, 3) }),
  (random) => ({ kind: "status", status: random.pick([500, 502, 503]) }),
  () => ({ kind: "garbage", status: 502 }),
  () => ({ kind: "garbage" }),
  () => ({ kind: "drop" }),
  () => ({ kind: "reset-before" }),
  // Listed twice, to be twice as frequent: a repetition of a completed call is "not modified", or a duplicate.
  () => ({ kind: "reset-after" }),
  () => ({ kind: "reset-after" }),
  // Some are longer than any caller waits, so that a call that was given up still takes effect.
  (random) => ({ kind: "delay", ms: random.whole(1_000, 7_000) }),
];

/** The fault of a call in the chat of a stream. Every call takes some time. */
export function mishapOf(
  method: string,
  { random, faulty }: { readonly random: Random; readonly faulty: number },
): Mishap | undefined {
  if (!methods.includes(method)) return undefined;
  const ms = onItsWay(random);
  return { ms, ...(random.chance(faulty) ? random.pick(mishaps)(random) : { kind: "delay" }) };
}

function fateOf({ status, description, fault }: RecordedCall): ChatCall["fate"] {
  // Whether or not the bot received the answer.
  if (fault !== "flood" && description?.startsWith("Too Many Requests") === true) return "limited";
  if (description?.includes("message is not modified") === true) return "unchanged";
  if (fault === "drop" || fault === "reset-before") return "unanswered";
  if (fault === "garbage") return status < 500 ? "unanswered" : "refused";
  if (status === 0) return description === undefined ? "unknown" : "unanswered";
  if (status === 200) return "done";
  return fault === "flood" ? "flood" : "refused";
}

/** `undefined` if it changes nothing that people see. */
export function chatCallOf(call: RecordedCall): ChatCall | undefined {
  const { method, at, params } = call;
  if (!methods.includes(method)) return undefined;
  const messageId = params.message_id === undefined ? undefined : String(params.message_id);
  return { method, at, by: "gateway", fate: fateOf(call), messageId };
}
