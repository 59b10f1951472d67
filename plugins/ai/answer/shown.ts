/** What a turn has yielded of its reply, so that a step that starts over takes back its own part only. */
import type { TurnEvent } from "service-gateway/sdk";
import type { Live } from "./live.ts";
import { Pieces } from "./pieces.ts";

type MediaEvent = Extract<TurnEvent, { readonly type: "media" }>;

export class Shown {
  /** What the complete steps have said. */
  #complete = { text: "", reasoning: "" };
  /** What the current step has said. */
  #text = new Pieces();
  #reasoning = new Pieces();
  readonly #media: MediaEvent[] = [];
  /** The end of the text, of all steps. */
  #last = "";
  /** The next text begins a paragraph. */
  #broken = false;

  *take(live: Live): Generator<TurnEvent> {
    if (live.type === "paragraph") this.#begin();
    else if (live.type === "restart") yield* this.#restart(live.reason);
    else if (live.type === "reasoning") {
      this.#reasoning.add(live.delta);
      yield { type: "reasoning", delta: live.delta };
    } else {
      const delta = this.#broken ? `\n\n${live.delta}` : live.delta;
      this.#broken = false;
      this.#text.add(delta);
      this.#last = delta;
      yield { type: "text", delta };
    }
  }

  file(event: MediaEvent): MediaEvent {
    this.#media.push(event);
    return event;
  }

  endStep(): void {
    this.#complete = {
      text: this.#complete.text + this.#text.text,
      reasoning: this.#complete.reasoning + this.#reasoning.text,
    };
    this.#text = new Pieces();
    this.#reasoning = new Pieces();
  }

  /** Texts before and after a tool call are separate paragraphs. */
  #begin(): void {
    this.#broken = this.#last !== "" && !this.#last.endsWith("\n");
  }

  *#restart(reason: string): Generator<TurnEvent> {
    const { text, reasoning } = this.#complete;
    if (!this.#text.isEmpty || !this.#reasoning.isEmpty) {
      yield { type: "restart", reason };
      if (reasoning !== "") yield { type: "reasoning", delta: reasoning };
      if (text !== "") yield { type: "text", delta: text };
      yield* this.#media;
    }
    this.#text = new Pieces();
    this.#reasoning = new Pieces();
    this.#last = text;
    this.#begin();
  }
}
