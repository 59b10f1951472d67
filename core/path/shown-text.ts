/** The preview of a reply while it grows: what the finished reply will show, as far as it can be known yet. */

import type { Inbound, Reply } from "../contract/index.ts";
import { withoutTagsSoFar, withoutTokensSoFar } from "../reply/index.ts";
import type { FormattingContext, Hooks, Visit } from "../stations/index.ts";
import { textReply } from "./endings/ending.ts";

/** People do not read faster, and each update processes the whole text. */
const lookEveryMs = 100;

export interface ShownText {
  /** The whole text so far; `thoughts` are shown before it. */
  grow(text: string, thoughts: string): void;
  /** Nothing more is shown. */
  close(): void;
  /**
   * The text shown last; empty if there was none. `spoken`: its reply, without thoughts and without what its account
   * adds.
   */
  last(): { readonly text: string; readonly spoken: string };
}

export interface ShownTextOptions {
  readonly hooks: Pick<Hooks, "formatting" | "taps">;
  readonly context: FormattingContext;
  readonly visit: Visit;
  /** The reason not to send a reply, or `null`. */
  readonly silence: (reply: Reply, inbound: Inbound) => string | null;
  /** Adds what its account adds to every reply. */
  readonly asSent: (reply: Reply, context: FormattingContext) => Reply;
  readonly show: (text: string) => void;
  readonly onError: (error: unknown) => void;
}

export function createShownText({ hooks, silence, asSent, show, onError, ...options }: ShownTextOptions): ShownText {
  const context: FormattingContext = { ...options.context, preview: true };
  let newest: { readonly text: string; readonly thoughts: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let closed = false;
  let last = { text: "", spoken: "" };
  /** Whether a plugin taps the station; without one there is nothing to wait for. */
  let tapped: boolean | undefined;

  function lookSoon(): void {
    if (closed || looking || timer !== undefined) return;
    timer = setTimeout(look, lookEveryMs);
  }

  /** Only the newest text matters: text that arrives while a plugin formats is processed next. */
  async function look(): Promise<void> {
    timer = undefined;
    if (newest === undefined) return;
    const { text, thoughts } = newest;
    newest = undefined;
    looking = true;
    try {
      const reply = await formatted(withoutTagsSoFar(text), thoughts);
      if (!closed && reply !== undefined && reply.text.trim() !== "") {
        const spoken =
          thoughts !== "" && reply.text.startsWith(thoughts) ? reply.text.slice(thoughts.length) : reply.text;
        last = { text: asSent(reply, context).text, spoken };
        show(last.text);
      }
    } catch (error) {
      // The failed tap may be the one that redacts.
      closed = true;
      onError(error);
    }
    looking = false;
    if (newest !== undefined) lookSoon();
  }

  /** The text as the plugins format it; `undefined` while the reply may still turn out to be silent. */
  async function formatted(text: string, thoughts: string): Promise<Reply | undefined> {
    const answerText = silence(textReply(text), context.inbound) === null ? withoutTokensSoFar(text) : "";
    if (thoughts === "" && answerText === "") return undefined;
    const reply = textReply(thoughts + answerText);
    tapped ??= hooks.taps().some(({ hook, plugin }) => hook === "formatting" && plugin !== "core");
    return tapped ? await hooks.formatting(reply, context, options.visit) : reply;
  }

  return {
    grow(text, thoughts) {
      newest = { text, thoughts };
      lookSoon();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
    last: () => last,
  };
}

/** Notes at the end of a text that was cut short. */
export const endNotes = {
  /** By `/stop`. */
  stopped: "(stopped)",
  interrupted: "(interrupted)",
  /** For the model, in place of the rest of an answer that failed. */
  failed: "(the answer failed)",
} as const;

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** Adds a note to an interrupted text. An open code block is closed before the note. */
export function endedText(text: string, note: string): string {
  let open: string | undefined;
  for (const line of text.split("\n")) {
    const [, marks] = fence.exec(line) ?? [];
    if (marks === undefined) continue;
    if (open === undefined) open = marks;
    else if (marks.startsWith(open)) open = undefined;
  }
  return `${text.trimEnd()}${open === undefined ? "" : `\n${open}`}\n\n${note}`;
}
