/** The labelled points between "the turn is done" and "it was sent" at which a gateway is killed. */

export interface Aim {
  /** A write of the store; absent if the platform's side kills. */
  readonly write?: "say" | "sending" | "notSent" | "sent" | "unsendable" | "settle" | "setPreview" | "doubted";
  readonly when?: "before" | "after";
  /** Which write of its kind, counted from 1; default the first. */
  readonly nth?: number;
  readonly chat: string;
  /**
   * Breaks the store on purpose: it forgets waiting rows, or does not record sent ones. Shows that the checks notice
   * it.
   */
  readonly spoil?: "forget" | "unrecorded";
}

/**
 * `plain`: sent as a new message. `grown`: a preview that becomes the reply. `buttons`: a preview that is removed, and
 * a new message. `album`: three pictures.
 */
export type Shape = "plain" | "grown" | "buttons" | "album";

export interface Point {
  readonly label: string;
  readonly write?: readonly [name: NonNullable<Aim["write"]>, when: NonNullable<Aim["when"]>];
  /** The next process is killed too, at this write. */
  readonly again?: Point["write"];
  /** A call that the platform has received, has carried out, or has also answered. */
  readonly call?: readonly [method: string, when: "seen" | "done" | "answered"];
  /** One of them is selected at random. */
  readonly shapes: readonly Shape[];
  /** What the platform does to the first message, so that the point is reached. */
  readonly fault?: "flood" | "refuse" | "reset-after";
  /** The message was on the platform but unknown to the state, so it may be there twice. */
  readonly unknown?: true;
  /** The platform has shown a preview whose id was not recorded. */
  readonly strayPreview?: true;
  /** The first part was permanently rejected. */
  readonly refused?: true;
}

const texts: readonly Shape[] = ["plain", "grown", "buttons"];
const once = { shapes: ["plain"] } as const;
/** Two processes are killed, and neither has called the platform. */
const afterMarks = { write: ["say", "after"], again: ["sending", "after"], unknown: true, ...once } as const;

export const points: readonly Point[] = [
  { label: "before the outbox is written", write: ["say", "before"], shapes: [...texts, "album"] },
  { label: "after the outbox is written", write: ["say", "after"], shapes: [...texts, "album"] },
  { label: "before a row is marked again, after a 429", write: ["sending", "before"], fault: "flood", ...once },
  { label: "after a row is marked again, after a 429", write: ["sending", "after"], fault: "flood", ...once },
  { label: "before it is written that a try did not happen", write: ["notSent", "before"], fault: "flood", ...once },
  { label: "after it is written that a try did not happen", write: ["notSent", "after"], fault: "flood", ...once },
  { label: "before a part is recorded", write: ["sent", "before"], shapes: texts, unknown: true },
  { label: "after a part is recorded", write: ["sent", "after"], shapes: texts },
  { label: "before a refused part is recorded", write: ["unsendable", "before"], fault: "refuse", ...once },
  {
    label: "after a refused part is recorded",
    write: ["unsendable", "after"],
    fault: "refuse",
    refused: true,
    ...once,
  },
  { label: "before the end is written", write: ["settle", "before"], shapes: [...texts, "album"], unknown: true },
  { label: "after the end is written", write: ["settle", "after"], shapes: [...texts, "album"] },
  {
    label: "before a preview is written down",
    write: ["setPreview", "before"],
    shapes: ["grown", "buttons"],
    strayPreview: true,
  },
  { label: "after a preview is written down", write: ["setPreview", "after"], shapes: ["grown", "buttons"] },
  {
    label: "before a doubt is written down",
    write: ["doubted", "before"],
    fault: "reset-after",
    unknown: true,
    ...once,
  },
  { label: "after a doubt is written down", write: ["doubted", "after"], fault: "reset-after", unknown: true, ...once },
  {
    label: "before the repetition of a doubtful part is marked",
    write: ["sending", "before"],
    fault: "reset-after",
    unknown: true,
    ...once,
  },
  {
    label: "after the repetition of a doubtful part is marked",
    write: ["sending", "after"],
    fault: "reset-after",
    unknown: true,
    ...once,
  },
  { label: "after the outbox is written, then after the repetition is marked", ...afterMarks },
  { label: "a message was asked for, not sent", call: ["sendMessage", "seen"], ...once },
  { label: "a message was sent, not answered", call: ["sendMessage", "done"], unknown: true, ...once },
  { label: "a message was sent and answered", call: ["sendMessage", "answered"], unknown: true, ...once },
  { label: "an edit in place was asked for, not made", call: ["editMessageText", "seen"], shapes: ["grown"] },
  { label: "an edit in place was made, not answered", call: ["editMessageText", "done"], shapes: ["grown"] },
  {
    label: "an edit in place was made and answered",
    call: ["editMessageText", "answered"],
    unknown: true,
    shapes: ["grown"],
  },
  { label: "a preview's removal was asked for, not done", call: ["deleteMessage", "seen"], shapes: ["buttons"] },
  { label: "a preview was removed, not answered", call: ["deleteMessage", "done"], shapes: ["buttons"] },
  { label: "a preview was removed, and answered", call: ["deleteMessage", "answered"], shapes: ["buttons"] },
  { label: "an album was asked for, not sent", call: ["sendMediaGroup", "seen"], shapes: ["album"] },
  { label: "an album was sent, not answered", call: ["sendMediaGroup", "done"], shapes: ["album"], unknown: true },
  { label: "an album was sent and answered", call: ["sendMediaGroup", "answered"], shapes: ["album"], unknown: true },
];
