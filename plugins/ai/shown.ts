/** What a turn has yielded of its reply, so that a step that begins anew takes back no more than its own. */
import type { TurnEvent } from "service-gateway/sdk";
import type { Live } from "./live.ts";

type Kept = Extract<TurnEvent, { readonly type: "media" }>;

export class Shown {
  #text = "";
  #reasoning = "";
  readonly #media: Kept[] = [];
  /** What the complete steps have said. */
  #kept = { text: "", reasoning: "" };
  /** The next text begins a paragraph. */
  #broken = false;

  *take(live: Live): Generator<TurnEvent> {
    if (live.type === "paragraph") this.#begin();
    else if (live.type === "restart") yield* this.#restart(live.reason);
    else if (live.type === "reasoning") {
      this.#reasoning += live.delta;
      yield { type: "reasoning", delta: live.delta };
    } else {
      const delta = this.#broken ? `\n\n${live.delta}` : live.delta;
      this.#broken = false;
      this.#text += delta;
      yield { type: "text", delta };
    }
  }

  file(event: Kept): Kept {
    this.#media.push(event);
    return event;
  }

  endStep(): void {
    this.#kept = { text: this.#text, reasoning: this.#reasoning };
  }

  /** Texts before and after a tool call are separate paragraphs. */
  #begin(): void {
    this.#broken = this.#text !== "" && !this.#text.endsWith("\n");
  }

  *#restart(reason: string): Generator<TurnEvent> {
    const { text, reasoning } = this.#kept;
    if (this.#text !== text || this.#reasoning !== reasoning) {
      yield { type: "restart", reason };
      if (reasoning !== "") yield { type: "reasoning", delta: reasoning };
      if (text !== "") yield { type: "text", delta: text };
      yield* this.#media;
    }
    this.#text = text;
    this.#reasoning = reasoning;
    this.#begin();
  }
}
