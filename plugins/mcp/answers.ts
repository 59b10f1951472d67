/**
 * The answers to calls of tools, taken out of the messages before the library reads them. The library refuses a whole
 * answer for one odd member, and parses numbers with a loss of digits.
 */
/** What a server answered to a call. Everything in it may be missing or wrong. */
export type Answer =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: unknown }
  /** The server sent an answer that is not a message. */
  | { readonly kind: "unreadable" };

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Answers {
  /**
   * Notes a call that is being sent, until its answer is taken or the signal is aborted. Returns its id; `undefined`
   * for other messages.
   */
  sent(message: Message, signal?: AbortSignal | null): string | number | undefined;
  /** The message for the library: an answer to a noted call is kept here, and replaced by one that refers to it. */
  passed<T extends Message>(message: T): T;
  /** The same where the answer to a noted call is not a message. */
  unreadable(id: string | number): object;
  /** The id of the noted call that a broken message seems to answer. */
  idIn(broken: string): string | number | undefined;
  /** The answer that a result of the library refers to. */
  take(result: unknown): Answer;
}

/**
 * Serializers write `null` for what is absent, and the library refuses a listing or a greeting for it. In a schema, it
 * is a value.
 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const present = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(present.map(([key, one]) => [key, schemas.includes(key) ? one : withoutNulls(one)]));
}

const schemas: readonly string[] = ["inputSchema", "outputSchema"];

export function createAnswers(): Answers {
  const waiting = new Map<string | number, Answer | undefined>();

  /** Text that the library passes on unchanged. */
  const reference = (id: string | number) => ({
    jsonrpc: "2.0",
    id,
    result: { resultType: "complete", content: [{ type: "text", text: JSON.stringify(id) }] },
  });

  function keep(id: string | number, answer: Answer): object {
    waiting.set(id, answer);
    return reference(id);
  }

  return {
    sent({ method, id }, signal) {
      if (method !== "tools/call" || (typeof id !== "string" && typeof id !== "number")) return undefined;
      waiting.set(id, undefined);
      signal?.addEventListener("abort", () => waiting.delete(id), { once: true });
      return id;
    },
    passed(message) {
      const { id, method, result, error } = message;
      if (method !== undefined) return message;
      if ((typeof id !== "string" && typeof id !== "number") || !waiting.has(id))
        return withoutNulls(message) as typeof message;
      // The library asks for the input that the server wants, or says that it cannot.
      if ((result as { readonly resultType?: unknown } | null | undefined)?.resultType === "input_required")
        return message;
      const hasError = error !== undefined && error !== null;
      return keep(id, hasError ? { kind: "error", error } : { kind: "result", result }) as typeof message;
    },
    unreadable: (id) => keep(id, { kind: "unreadable" }),
    idIn(broken) {
      if (!broken.includes('"jsonrpc"')) return undefined;
      // The id is the first or the last member.
      const ends = `${broken.slice(0, 1_000)}\n${broken.slice(-1_000)}`;
      for (const [, id = ""] of ends.matchAll(/"id"\s*:\s*(\d{1,15})/g)) if (waiting.has(Number(id))) return Number(id);
      return undefined;
    },
    take(result) {
      const { content } = (result ?? {}) as { readonly content?: readonly { readonly text?: unknown }[] };
      const id = JSON.parse(String(content?.[0]?.text ?? "null")) as string | number;
      const answer = waiting.get(id);
      waiting.delete(id);
      return answer ?? { kind: "unreadable" };
    },
  };
}
