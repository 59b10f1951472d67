/** What a person reads if their message ends `failed`. The reason is for the operator, in the trace. */
import { type Address, type Inbound, programCommand } from "../../contract/index.ts";
import type { ToolUse } from "../../stations/index.ts";
import { type Stop, sayToSender, textReply } from "./ending.ts";

/** The model has replied and only the delivery failed, so the sender can ask for the reply again. */
const undelivered =
  "Sorry, I have an answer, but it could not be delivered, or not all of it. Ask me to repeat it, or to " +
  "answer in another form.";
const again = "Please send your message again. If it fails again, {ask}.";
const unexplained = `Sorry, something went wrong and I could not answer. ${again}`;
const notSetUp =
  "Sorry, I cannot answer: my model is not set up correctly. {contact}; sending your message again does not help.";
/** Everyone who may write may choose the model of a conversation, also one that does not exist. */
const unknownModel = `${notSetUp} If you chose the model with /model, /model default resets it.`;
const tryLater = "Sorry, the model does not answer at the moment. Please try again later.";
const orWrite = "Please send it again later, or write to me.";
const askLess = "Please ask for less at once.";

/** What the person can do, by the reason code of the failure. */
const remedies: ReadonlyMap<string, string> = new Map([
  [
    "model_context_full",
    "Sorry, this does not fit into my model, although I left out what I could. {contact}; /new starts a new " +
      "conversation.",
  ],
  [
    "message_too_long",
    "Sorry, this message is too long: it has about {message} tokens, and I can read about {room} at once. " +
      "Please send it as a file, or split it. I keep its beginning and its end.",
  ],
  ["model_empty", "Sorry, the model gave an empty answer twice. Please send your message again."],
  ["model_tool_loop", `Sorry, I used all the tool calls allowed for one answer and did not finish. ${askLess}`],
  ["turn_timeout", `Sorry, the answer took too long. ${askLess}`],
  ["answer_too_long", `Sorry, the answer was too long. ${askLess}`],
  ["attempts_exhausted", "Sorry, I was interrupted three times while I worked on your message. Please send it again."],
  [
    "model_takes_no_files",
    "Sorry, the model does not accept this file. Please send it as text, or write what is in it.",
  ],
  [
    "model_content_refused",
    "Sorry, the model refused this message. Please write it in other words; /new starts a new conversation.",
  ],
  // The reason may be a tool, a setting or the history, so the person must not look for it in their words.
  [
    "model_refused",
    "Sorry, the server of my model did not accept the request. Your message need not be the reason. " +
      "{contact}; /new starts a new conversation, which may help.",
  ],
  ["model_quota", "Sorry, the model's quota is used up. Please try again later, or {turnTo}."],
  ["budget_run_exceeded", `Sorry, this needs more than I may spend on one answer. ${askLess}`],
  ["budget_unpriced", notSetUp],
  ["model_unauthorized", notSetUp],
  ["model_unknown", unknownModel],
  ["model_missing", notSetUp],
  ["model_provider_invalid", unknownModel],
  ["engine_unknown", notSetUp],
  ["no_engine", notSetUp],
  // The sender may have read the reply, so the text must not say that it did not arrive.
  [
    "send_fate_unknown",
    "I sent you an answer, but cannot confirm that all of it arrived. If you do not see it, or a part is " +
      "missing, ask me to repeat it.",
  ],
  ["speech_unavailable", `Sorry, I cannot listen to voice messages at the moment. ${orWrite}`],
  ["speech_failed", "Sorry, I could not understand this voice message. Please write to me instead."],
  [
    "speech_not_fetched",
    "Sorry, I could not get your voice message. Please send it again later, send a shorter one, or write to me.",
  ],
  [
    "speech_too_long",
    "Sorry, I can listen to voice messages of at most 10 minutes and 25 MB. Please send a shorter one, or write to me.",
  ],
  ["model_busy", tryLater],
  ["model_unavailable", tryLater],
  ["model_unreachable", tryLater],
  ["model_stalled", tryLater],
  ["model_cut_off", tryLater],
]);

const unfinished = "Sorry, something went wrong and I could not finish.";

/** In place of a remedy that asks for the message once more: what was done would be done twice. */
const remediesAfterTools: ReadonlyMap<string, string> = new Map([
  ["model_refused", "Sorry, the model refused to go on, so I could not finish."],
  // What the model refused may be what a tool returned.
  ["model_content_refused", "Sorry, the model refused to go on, so I could not finish."],
  ["model_empty", "Sorry, the model gave an empty answer twice, so I could not finish."],
  ["attempts_exhausted", "Sorry, I was interrupted three times while I worked on your message."],
]);

/** Whom to turn to. An owner is not sent to the owner. */
const help = {
  person: {
    ask: "ask the owner of this bot",
    contact: "Please contact the owner of this bot",
    turnTo: "contact the owner of this bot",
  },
  owner: {
    ask: `\`${programCommand} why last\` names the reason`,
    contact: `\`${programCommand} why last\` names the reason`,
    turnTo: `see \`${programCommand} why last\``,
  },
} as const;

/** People need no more digits. */
const roundly = (number: number): string => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, number))) - 1);
  return String(Math.round(number / unit) * unit).replace(/\B(?=(?:\d{3})+$)/g, ",");
};

/** Fills in whom to turn to, and numbers of the failure. */
const addressed = (text: string, isOwner: boolean, numbers: Readonly<Record<string, number>> = {}): string =>
  text
    .replace(
      /\{(ask|contact|turnTo)\}/g,
      (_, word: keyof (typeof help)["person"]) => help[isOwner ? "owner" : "person"][word],
    )
    .replace(/\{(message|room)\}/g, (_, word: string) => roundly(numbers[word] ?? 0));

const mostNamed = 10;

function namesOf(uses: readonly ToolUse[], effect: ToolUse["effect"]): string {
  const names = [...new Set(uses.flatMap((use) => (use.effect === effect ? [`\`${use.name}\``] : [])))];
  return names.length <= mostNamed
    ? names.join(", ")
    : `${names.slice(0, mostNamed).join(", ")} and ${names.length - mostNamed} more`;
}

/** What the turn did before it failed; empty if nothing. */
function doneBefore(uses: readonly ToolUse[]): string {
  const done = namesOf(uses, "done");
  const unknown = namesOf(uses, "unknown");
  if (done === "" && unknown === "") return "";
  const sentences = [
    ...(done === "" ? [] : [`I had already done: ${done}.`]),
    ...(unknown === "" ? [] : [`I had begun ${unknown}, and it is not known whether that took effect.`]),
    "I know that when you write again.",
  ];
  return sentences.join(" ");
}

/** Adds what the turn did to a text that says that it did not end. */
export function withDone(text: string, uses: readonly ToolUse[] = []): string {
  const done = doneBefore(uses);
  return done === "" ? text : `${text} ${done}`;
}

/** Kinds of events in a chat to which a person expects a reply. */
const personal: ReadonlySet<Inbound["kind"]> = new Set(["message", "edit", "press"]);

/**
 * `undefined` if no person asked (a heartbeat, a hook), or if the reply had no destination. `answered`: only the
 * delivery of the reply failed. `uses`: the tools that the turn called. `isOwner`: the person is an owner.
 * `forSender`: the message whose sender alone sees the apology, as the reply was for them only.
 */
export function apologyTo(
  reason: string,
  {
    inbound,
    to,
    answered = false,
    uses = [],
    isOwner = false,
    forSender,
    numbers,
  }: {
    readonly inbound: Pick<Inbound, "kind" | "request">;
    readonly to: Address | null;
    readonly answered?: boolean;
    readonly uses?: readonly ToolUse[] | undefined;
    readonly isOwner?: boolean;
    readonly forSender?: Inbound | undefined;
    readonly numbers?: Readonly<Record<string, number>> | undefined;
  },
): Stop["say"] {
  if (to === null || !isPersonal(inbound)) return undefined;
  const text = remedies.get(reason) ?? (answered ? undelivered : unexplained);
  if (doneBefore(uses) === "") {
    const words = addressed(text, isOwner, numbers);
    return forSender === undefined ? { address: to, reply: textReply(words) } : sayToSender(words, to, forSender);
  }
  const afterTools = remediesAfterTools.get(reason) ?? remedies.get(reason) ?? unfinished;
  return { address: to, reply: textReply(withDone(addressed(afterTools, isOwner), uses)) };
}

/** A person waits for the reply. */
export const isPersonal = ({ request, kind }: Pick<Inbound, "request" | "kind">): boolean =>
  request === undefined && personal.has(kind);

/** The place where a message was written, for a message that was not routed. */
export function placeOf({ channel, account, chat }: Inbound): Address {
  return { channel, account, chat: chat.id, thread: chat.thread };
}
