/**
 * Fits a request into the context of a model before it is sent. What matters least goes first: results of earlier tool
 * calls of the turn, then the oldest messages, then the middle of long results and files. The stored transcript is
 * unchanged.
 */
import { EngineError } from "service-gateway/sdk";
import {
  addSizes,
  cutMiddle,
  cutToTokens,
  estimateTokens,
  type ModelRoom,
  measureText,
  type TextSizes,
} from "service-gateway/sdk/tools";
import type { ModelCall } from "../library.ts";
import { type Message, resultText, sizesOfMessage, sizesOfTools, type ToolResult } from "./request-sizes.ts";

type Prompt = readonly Message[];
type UserMessage = Extract<Message, { readonly role: "user" }>;

export interface FitOptions {
  readonly room: ModelRoom;
  /** How many messages at the beginning of the conversation are never left out. */
  readonly lasting: number;
  /** No person wrote the message, who could shorten it, so it is cut. */
  readonly mayCutMessage: boolean;
}

export interface Fitted {
  readonly call: ModelCall;
  readonly sizes: TextSizes;
  /** How many messages of the conversation are left out. */
  readonly leftOut: number;
}

/** Room for a reply whose length is not limited. */
const usualReply = 4_096;
/** What remains of the result of an earlier call. */
const shortResult = 1_000;
/**
 * Where something is left out, the request becomes shorter than it must be: then the next ones fit as well, and begin
 * like this one.
 */
const comfortable = 0.8;
/** Share of it for what is never left out. */
const mostLasting = 0.25;
const least = 0.5;

/** Tokens that a request may have, so that a reply fits behind it. */
function inputRoom({ tokens }: Pick<ModelRoom, "tokens">, { maxOutputTokens }: Partial<ModelCall> = {}): number {
  const share = Math.floor(tokens / 8);
  const reply = maxOutputTokens === undefined ? Math.min(usualReply, share) : Math.min(maxOutputTokens, tokens / 2);
  return Math.floor(tokens - Math.max(reply, Math.min(usualReply, share)));
}

/** Between the instructions and the current question. Tool results after the question belong to it. */
function historyOf(prompt: Prompt): { readonly begin: number; readonly asked: number } {
  const begin = prompt.findIndex(({ role }) => role !== "system");
  const asked = prompt.findLastIndex(({ role }, index) => role === "user" && prompt[index - 1]?.role !== "tool");
  return begin === -1 ? { begin: 0, asked: 0 } : { begin, asked: Math.max(begin, asked) };
}

const isResult = (part: { readonly type: string }): part is ToolResult => part.type === "tool-result";

/** The message with the results of tools changed. */
function withResults(message: Message, change: (text: string) => string): Message {
  if (message.role !== "tool") return message;
  const content = message.content.map((part) => {
    if (!isResult(part)) return part;
    const text = resultText(part);
    const changed = change(text);
    return changed === text ? part : { ...part, output: { type: "text" as const, value: changed } };
  });
  return { ...message, content };
}

/** The message with its first text, or the later ones, changed. */
function withTexts(message: UserMessage, which: "first" | "later", change: (text: string) => string): UserMessage {
  let texts = 0;
  const content = message.content.map((part) => {
    if (part.type !== "text") return part;
    texts += 1;
    return (texts === 1) === (which === "first") ? { ...part, text: change(part.text) } : part;
  });
  return { ...message, content };
}

function firstText({ content }: UserMessage): string {
  return content.find((part) => part.type === "text")?.text ?? "";
}

/** Equal texts give equal numbers in every process. */
function mixed(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

class Fitting {
  readonly #call: ModelCall;
  readonly #options: FitOptions;
  readonly #limit: number;
  readonly #tools: TextSizes;
  #prompt: readonly Message[];
  #sizes: readonly TextSizes[];
  #leftOut = 0;

  constructor(call: ModelCall, options: FitOptions) {
    this.#call = call;
    this.#options = options;
    this.#limit = inputRoom(options.room, call);
    this.#tools = sizesOfTools(call);
    this.#prompt = call.prompt;
    this.#sizes = call.prompt.map(sizesOfMessage);
  }

  run(): Fitted {
    if (!this.#fits()) this.#shortenResults("earlier", shortResult);
    if (!this.#fits()) this.#shortenLasting();
    if (!this.#fits()) this.#leaveOut();
    if (!this.#fits()) this.#shareResults();
    if (!this.#fits()) this.#shortenFiles();
    if (!this.#fits()) this.#shortenMessage();
    const call = this.#prompt === this.#call.prompt ? this.#call : { ...this.#call, prompt: [...this.#prompt] };
    return { call, sizes: addSizes(this.#tools, ...this.#sizes), leftOut: this.#leftOut };
  }

  #tokens(...sizes: readonly TextSizes[]): number {
    return estimateTokens(this.#options.room, addSizes(...sizes));
  }

  /** Tokens of the request. */
  get #total(): number {
    return this.#tokens(this.#tools, ...this.#sizes);
  }

  #fits(share = 1): boolean {
    return this.#total <= this.#limit * share;
  }

  #replace(index: number, message: Message): void {
    if (message === this.#prompt[index]) return;
    this.#prompt = this.#prompt.with(index, message);
    this.#sizes = this.#sizes.with(index, sizesOfMessage(message));
  }

  /** The results of the turn's calls: those before the last step, or those of it. */
  #results(which: "earlier" | "last"): readonly number[] {
    const { asked } = historyOf(this.#prompt);
    const step = this.#prompt.findLastIndex(({ role }) => role === "assistant");
    return this.#prompt.flatMap(({ role }, index) =>
      role === "tool" && index > asked && index > step === (which === "last") ? index : [],
    );
  }

  #shortenResults(which: "earlier" | "last", characters: number): void {
    for (const index of this.#results(which)) {
      this.#replace(
        index,
        withResults(this.#prompt[index] as Message, (text) => cutMiddle(text, characters)),
      );
      if (this.#fits(comfortable)) return;
    }
  }

  /** Those were measured for another model, perhaps for one with a larger context. */
  #shortenLasting(): void {
    const { lasting, room } = this.#options;
    const { begin } = historyOf(this.#prompt);
    for (let index = begin; index < begin + lasting; index += 1) {
      const message = this.#prompt[index];
      if (message?.role !== "user") continue;
      this.#replace(
        index,
        withTexts(message, "first", (text) => cutToTokens(text, (this.#limit * mostLasting) / lasting, room)),
      );
    }
  }

  /** Leaves out the oldest messages. */
  #leaveOut(): void {
    const { begin, asked } = historyOf(this.#prompt);
    const oldest = begin + this.#options.lasting;
    const starts = this.#prompt.flatMap(({ role }, index) =>
      role === "user" && index > oldest && index <= asked ? index : [],
    );
    const fixed = [this.#tools, ...this.#sizes.slice(0, oldest)];
    const candidates = starts.map((start) => ({
      start,
      tokens: this.#tokens(...fixed, ...this.#sizes.slice(start)),
    }));
    const fitting = candidates.filter(({ tokens }) => tokens <= this.#limit * comfortable);
    // The same one for as long as possible, whatever is added behind it.
    const steady = fitting
      .filter(({ tokens }) => tokens >= this.#limit * least)
      .toSorted((one, other) => this.#numberAt(one.start) - this.#numberAt(other.start))[0];
    const chosen = steady ?? fitting[0] ?? candidates.find(({ tokens }) => tokens <= this.#limit) ?? candidates.at(-1);
    if (chosen === undefined) return;
    this.#leftOut = chosen.start - oldest;
    const note = `[${this.#leftOut} earlier ${this.#leftOut === 1 ? "message is" : "messages are"} left out here]`;
    const first = this.#prompt[chosen.start] as UserMessage;
    this.#prompt = [...this.#prompt.slice(0, oldest), ...this.#prompt.slice(chosen.start)];
    this.#sizes = [...this.#sizes.slice(0, oldest), ...this.#sizes.slice(chosen.start)];
    this.#replace(
      oldest,
      withTexts(first, "first", (text) => `${note}\n\n${text}`),
    );
  }

  #numberAt(index: number): number {
    return mixed(firstText(this.#prompt[index] as UserMessage));
  }

  /** The results of the last step share what is left. */
  #shareResults(): void {
    const places = this.#results("last");
    const texts = places.flatMap((index) => {
      const message = this.#prompt[index] as Message;
      return message.role === "tool" ? message.content.filter(isResult).map(resultText) : [];
    });
    const [each, total] = [texts.map((text) => this.#tokens(measureText(text))), this.#total];
    const sum = each.reduce((one, other) => one + other, 0);
    let left = this.#limit * comfortable - (total - sum);
    let open = each.length;
    // What short ones do not need is for the others.
    let share = 0;
    for (const tokens of each.toSorted((one, other) => one - other)) {
      share = Math.max(0, left / open);
      left -= Math.min(tokens, share);
      open -= 1;
    }
    for (const index of places)
      this.#replace(
        index,
        withResults(this.#prompt[index] as Message, (text) => cutToTokens(text, share, this.#options.room)),
      );
  }

  /** The texts of files that came with the message. */
  #shortenFiles(): void {
    const { asked } = historyOf(this.#prompt);
    const message = this.#prompt[asked];
    if (message?.role !== "user") return;
    const texts = message.content.filter((part) => part.type === "text").slice(1);
    if (texts.length === 0) return;
    const sum = this.#tokens(...texts.map(({ text }) => measureText(text)));
    const share = Math.max(0, (this.#limit * comfortable - (this.#total - sum)) / texts.length);
    this.#replace(
      asked,
      withTexts(message, "later", (text) => cutToTokens(text, share, this.#options.room)),
    );
  }

  #shortenMessage(): void {
    const { asked } = historyOf(this.#prompt);
    const message = this.#prompt[asked];
    if (message?.role !== "user") return;
    const needed = this.#tokens(measureText(firstText(message)));
    const room = Math.floor(this.#limit - (this.#total - needed));
    const { tokens } = this.#options.room;
    // Without a message, there is hardly any room either.
    if (room < this.#limit / 10) throw instructionsTooLong(this.#total - needed, tokens);
    if (!this.#options.mayCutMessage) throw messageTooLong(needed, room, tokens);
    this.#replace(
      asked,
      withTexts(message, "first", (text) => cutToTokens(text, room, this.#options.room)),
    );
  }
}

function instructionsTooLong(needed: number, tokens: number): EngineError {
  return new EngineError("model_context_full", {
    detail: `The instructions and tools take about ${needed} of the ${tokens} tokens of the model`,
    hint: "Shorten the instructions, allow fewer tools (agents.*.tools), or choose a model with a larger context.",
  });
}

function messageTooLong(message: number, room: number, tokens: number): EngineError {
  return new EngineError("message_too_long", {
    detail: `The message has about ${message} tokens, and the model has room for ${room}, of ${tokens} in all`,
    hint: "Send it as a file or in parts, or choose a model with a larger context.",
    numbers: { message, room },
  });
}

/** Throws `message_too_long` or `model_context_full` if the request cannot be made to fit. */
export function fitRequest(call: ModelCall, options: FitOptions): Fitted {
  return new Fitting(call, options).run();
}
