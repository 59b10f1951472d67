/** Holds what a chat saw of a stream against what it may see. Each violation is a sentence. */
import type { FakeCall } from "./fake-chat.ts";
import type { Outcome } from "./stream.ts";

/** Calls that change what people see may follow one another so soon. */
const leastMs = 1_000;

/** Sends of which the platform never said that they arrived. */
export function doubtfulSends(calls: readonly FakeCall[], by?: string): number {
  return calls.filter((call) => call.method === "sendMessage" && call.fate === "unknown" && call.by === (by ?? call.by)).length;
}

/** Messages that are there beyond those of the answer; `undefined` when one of the answer is missing. */
function beyond(shown: readonly string[], wanted: readonly string[]): number | undefined {
  const left = [...shown];
  for (const html of wanted) {
    const at = left.indexOf(html);
    if (at < 0) return undefined;
    left.splice(at, 1);
  }
  return left.length;
}

export function judge({ calls, shown, wanted, failure }: Outcome): readonly string[] {
  const violations: string[] = [];
  const limited = calls.filter(({ fate }) => fate === "limited").length;
  if (limited > 0) violations.push(`${limited} calls were too fast for the platform`);
  const times = calls
    .filter(({ method, fate }) => method !== "deleteMessage" && (fate === "done" || fate === "unknown"))
    .map(({ at }) => at);
  const near = times.filter((at, index) => index > 0 && at - (times[index - 1] ?? 0) < leastMs).length;
  if (near > 0) violations.push(`${near} calls came less than a second after the one before`);
  const sends = calls.filter(({ method, fate }) => method === "sendMessage" && fate === "done").length;
  if (sends > wanted.length + 1) violations.push(`${sends} messages were sent for an answer of ${wanted.length}`);
  const doubtful = doubtfulSends(calls);
  if (doubtfulSends(calls, "preview") > 1) violations.push("the preview sent again after a message of unknown fate");
  // Twice in doubt, an answer is not sent a third time.
  if (failure !== undefined && doubtful < 2) violations.push(`the answer failed: ${failure}`);
  // Exactly the answer, but for messages of which the platform never said that they are there.
  const more = beyond(shown, wanted);
  if (more === undefined) violations.push("a message of the answer is missing");
  else if (more > doubtful) violations.push(`${more} messages are there that are none of the answer, and ${doubtful} were in doubt`);
  else if (doubtful === 0 && shown.some((html, index) => html !== wanted[index]))
    violations.push("the messages of the answer are in another order");
  return violations;
}
