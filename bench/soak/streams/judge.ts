/** Compares what a chat saw of a stream with what it may see. Each violation is a sentence. */

export interface ChatCall {
  readonly method: string;
  /** When it took effect, or was refused. */
  readonly at: number;
  readonly by: string;
  /**
   * `unchanged`: an edit without a change. `limited`: too fast. `flood`, `refused`, `lost`: random faults, without
   * effect. `unknown`: done, but the caller got no answer. `unanswered`: without effect, and the caller got no answer.
   */
  readonly fate: "done" | "unchanged" | "refused" | "limited" | "flood" | "lost" | "unknown" | "unanswered";
  readonly messageId: string | undefined;
}

export interface Outcome {
  /** In the order in which the platform received them. */
  readonly calls: readonly ChatCall[];
  /** The messages in the chat at the end, and the messages of the reply. */
  readonly shown: readonly string[];
  readonly wanted: readonly string[];
  /** Why the delivery failed, if it did. */
  readonly failure: string | undefined;
  /** From the first word to the last message. */
  readonly tookMs: number;
}

/** Minimum distance between calls that change what people see. */
const leastMs = 1_000;

/** Sends that arrived without the platform confirming it. */
export function doubtfulSends(calls: readonly ChatCall[]): number {
  return calls.filter(({ method, fate }) => method === "sendMessage" && fate === "unknown").length;
}

/** Sends whose caller cannot know whether they arrived. */
function unheardSends(calls: readonly ChatCall[], by: string): readonly ChatCall[] {
  return calls.filter(
    (call) =>
      call.method === "sendMessage" && (call.fate === "unknown" || call.fate === "unanswered") && call.by === by,
  );
}

/** The number of missing messages of the reply, and of extra messages. */
export function compare({ shown, wanted }: Pick<Outcome, "shown" | "wanted">): {
  readonly missing: number;
  readonly beyond: number;
} {
  const left = [...shown];
  let missing = 0;
  for (const message of wanted) {
    const at = left.indexOf(message);
    if (at < 0) missing += 1;
    else left.splice(at, 1);
  }
  return { missing, beyond: left.length };
}

/** Milliseconds from each call that changed what people see to the next one. */
export function distances(calls: readonly ChatCall[]): readonly number[] {
  const times = calls
    .filter(({ method, fate }) => method !== "deleteMessage" && (fate === "done" || fate === "unknown"))
    .map(({ at }) => at);
  return times.slice(1).map((at, index) => at - (times[index] ?? 0));
}

export function judge(outcome: Outcome): readonly string[] {
  const { calls, shown, wanted, failure } = outcome;
  const violations: string[] = [];
  const limited = calls.filter(({ fate }) => fate === "limited").length;
  if (limited > 0) violations.push(`${limited} calls were too fast for the platform`);
  const near = distances(calls).filter((ms) => ms < leastMs).length;
  if (near > 0) violations.push(`${near} calls came less than a second after the one before`);
  const sends = calls.filter(({ method, fate }) => method === "sendMessage" && fate === "done").length;
  const apologies = failure === undefined ? 0 : 1;
  if (sends > wanted.length + 1 + apologies)
    violations.push(`${sends} messages were sent for an answer of ${wanted.length}`);
  const doubtful = doubtfulSends(calls);
  if (unheardSends(calls, "preview").length > 1)
    violations.push("the preview sent again after a message of unknown fate");
  // After two sends with an unknown outcome, a reply is not sent a third time, even if neither arrived.
  const unheard = unheardSends(calls, "outbox");
  if (failure !== undefined && unheard.length < 2) violations.push(`the answer failed: ${failure}`);
  const givenUp =
    failure === undefined ? 0 : Math.floor(unheard.filter(({ fate }) => fate === "unanswered").length / 2);
  // The chat must contain exactly the reply, except for messages that the platform never confirmed.
  const { missing, beyond } = compare(outcome);
  if (missing > givenUp) violations.push("a message of the answer is missing");
  else if (beyond > doubtful)
    violations.push(`${beyond} messages are there that are none of the answer, and ${doubtful} were in doubt`);
  else if (doubtful === 0 && missing === 0 && shown.some((message, index) => message !== wanted[index]))
    violations.push("the messages of the answer are in another order");
  return violations;
}
