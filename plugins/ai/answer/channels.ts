/**
 * Reads a text in the format harmony, as gpt-oss models write it (https://cookbook.openai.com/articles/openai-harmony):
 * messages in channels, of which `final` is the answer and the others are reasoning.
 */
import type { Ending } from "./closing-mark.ts";

/** `rest`: what follows is not in a channel. */
export type ChannelPiece =
  | { readonly kind: "text" | "reasoning"; readonly delta: string }
  | { readonly kind: "rest"; readonly delta: string };

const start = "<|start|>assistant";
const channel = "<|channel|>";
const message = "<|message|>";
const ends = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", channel] as const;
/** What may follow the answer. */
const afterAnswer = /(?:\s*<\|(?:end|return)\|>\s*)+$/;
const begunToken =
  /\s*(?:<\|(?:end|return)\|>\s*)*<?(?:\|(?:e(?:nd?)?|r(?:e(?:t(?:u(?:rn?)?)?)?)?)?(?:(?<=end|return)\|)?)?$/;
/** A longer one is none. */
const mostHeader = 200;

/** Whether a text begins with a channel. */
export function startsChannel(text: string): "yes" | "no" | "perhaps" {
  if (text.startsWith(channel) || text.startsWith(start + channel)) return "yes";
  return channel.startsWith(text) || (start + channel).startsWith(text) ? "perhaps" : "no";
}

export class Channels {
  #pending = "";
  #state: "between" | "header" | "reasoning" | "answer" = "between";
  #hasSpoken = false;

  read(delta: string, ending: Ending): readonly ChannelPiece[] {
    const pieces: ChannelPiece[] = [];
    this.#pending += delta;
    while (this.#step(pieces, ending)) {}
    return pieces;
  }

  /** Returns whether there is more to do. */
  #step(pieces: ChannelPiece[], ending: Ending): boolean {
    if (this.#state === "between") return this.#findChannel(pieces, ending);
    if (this.#state === "header") return this.#readHeader(pieces, ending);
    return this.#state === "reasoning" ? this.#reason(pieces, ending) : this.#answer(pieces, ending);
  }

  #findChannel(pieces: ChannelPiece[], ending: Ending): boolean {
    const text = this.#pending.trimStart();
    const begun = text.startsWith(start) ? text.slice(start.length) : text;
    if (begun.startsWith(channel)) {
      this.#pending = begun.slice(channel.length);
      this.#state = "header";
      return true;
    }
    if (ending === "more" && this.#pending.length < mostHeader && (channel.startsWith(begun) || start.startsWith(text)))
      return false;
    pieces.push({ kind: "rest", delta: text });
    this.#pending = "";
    return false;
  }

  #readHeader(pieces: ChannelPiece[], ending: Ending): boolean {
    const end = this.#pending.indexOf(message);
    if (end === -1) {
      if (ending === "more" && this.#pending.length < mostHeader) return false;
      pieces.push({ kind: "reasoning", delta: this.#pending });
      this.#pending = "";
      return false;
    }
    this.#state = this.#pending.trimStart().startsWith("final") ? "answer" : "reasoning";
    this.#pending = this.#pending.slice(end + message.length);
    return true;
  }

  #reason(pieces: ChannelPiece[], ending: Ending): boolean {
    const [end] = ends
      .map((token) => ({ token, at: this.#pending.indexOf(token) }))
      .filter(({ at }) => at !== -1)
      .toSorted((one, other) => one.at - other.at);
    const heldBack =
      ending === "more" && end === undefined ? (/<(?:\|[a-z]{0,8}\|?)?$/.exec(this.#pending)?.[0].length ?? 0) : 0;
    const length = end?.at ?? this.#pending.length - heldBack;
    if (length > 0) pieces.push({ kind: "reasoning", delta: this.#pending.slice(0, length) });
    // The beginning of the next message is read where it is looked for.
    const isNext = end?.token === channel || end?.token === "<|start|>";
    this.#pending = this.#pending.slice(end === undefined || isNext ? length : length + end.token.length);
    if (end === undefined) return false;
    this.#state = "between";
    return true;
  }

  /** The answer goes to the end of the text. */
  #answer(pieces: ChannelPiece[], ending: Ending): boolean {
    if (!this.#hasSpoken) this.#pending = this.#pending.trimStart();
    const heldBack = ending === "over" ? 0 : (begunToken.exec(this.#pending.slice(-40))?.[0].length ?? 0);
    const whole =
      ending === "over"
        ? this.#pending.replace(afterAnswer, "")
        : this.#pending.slice(0, this.#pending.length - heldBack);
    if (whole !== "") pieces.push({ kind: "text", delta: whole });
    this.#hasSpoken ||= whole !== "";
    this.#pending = ending === "over" ? "" : this.#pending.slice(whole.length);
    return false;
  }
}
