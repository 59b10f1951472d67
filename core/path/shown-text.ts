/** What people see of an answer while it grows: what they will see of it when it is done, as far as that can be said by then. */

import type { Inbound, Reply } from "../contract/index.ts";
import { withoutTagsSoFar, withoutTokensSoFar } from "../reply/index.ts";
import type { FormattingContext, Hooks, Visit } from "../stations/index.ts";
import { textReply } from "./ending.ts";

/** Readers are not faster, and each look processes the whole text. */
const lookEveryMs = 100;

export interface ShownText {
  /** The whole text so far; `thoughts` are shown before it. */
  grow(text: string, thoughts: string): void;
  /** Nothing is shown any more. */
  close(): void;
  /** What was shown last; empty: nothing. */
  last(): string;
}

export interface ShownTextOptions {
  readonly hooks: Pick<Hooks, "formatting" | "taps">;
  readonly context: FormattingContext;
  readonly visit: Visit;
  /** The reason not to send a reply, or `null`. */
  readonly silence: (reply: Reply, inbound: Inbound) => string | null;
  /** With what its account puts around every answer. */
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
  let last = "";
  /** Whether a plugin takes part: without one there is nothing to wait for. */
  let tapped: boolean | undefined;

  function schedule(): void {
    if (closed || looking || timer !== undefined) return;
    timer = setTimeout(look, lookEveryMs);
  }

  /** Newest wins: what came while a plugin formats is looked at next. */
  async function look(): Promise<void> {
    timer = undefined;
    if (newest === undefined) return;
    const { text, thoughts } = newest;
    newest = undefined;
    looking = true;
    try {
      const reply = await formatted(withoutTagsSoFar(text), thoughts);
      if (!closed && reply !== undefined && reply.text.trim() !== "") {
        last = asSent(reply, context).text;
        show(last);
      }
    } catch (error) {
      // The tap that failed may be the one that redacts.
      closed = true;
      onError(error);
    }
    looking = false;
    if (newest !== undefined) schedule();
  }

  /** What the plugins make of it; `undefined` as long as it may come to nothing that is sent. */
  async function formatted(text: string, thoughts: string): Promise<Reply | undefined> {
    const said = silence(textReply(text), context.inbound) === null ? withoutTokensSoFar(text) : "";
    if (thoughts === "" && said === "") return undefined;
    const reply = textReply(thoughts + said);
    tapped ??= hooks.taps().some(({ hook, plugin }) => hook === "formatting" && plugin !== "core");
    return tapped ? await hooks.formatting(reply, context, options.visit) : reply;
  }

  return {
    grow(text, thoughts) {
      newest = { text, thoughts };
      schedule();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
    last: () => last,
  };
}

/** Behind a text that `/stop` has ended. */
export const stoppedNote = "(stopped)";

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** A text that broke off, with a note behind it: code that it had begun ends before the note. */
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
