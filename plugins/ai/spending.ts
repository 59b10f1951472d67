/**
 * Asks the gateway before each request to a model server whether the budget allows it, and says afterwards what the
 * request used.
 */
import type { EngineTurn } from "service-gateway/sdk";
import { fileTokens } from "./attachments.ts";
import type { ModelCall, ModelPart, ModelStream } from "./library.ts";

type Spending = NonNullable<EngineTurn["spending"]>;
type Used = NonNullable<Parameters<Spending["end"]>[1]>;

/**
 * Makes a request under the budget. `ask` may be handed another call than `call`. `onAnswer` is called with the tokens
 * that the server counted in the request, once the answer is complete.
 */
export type Accounted = (
  model: string,
  call: ModelCall,
  ask: (call: ModelCall) => Promise<ModelStream>,
  onAnswer?: (inputTokens: number | undefined) => void,
) => Promise<ModelStream>;

/** Texts of most languages have at least three bytes for each token. */
const bytesPerToken = 3;
const tokensOf = (bytes: number): number => Math.ceil(bytes / bytesPerToken);
const fileBytes = (file: object): number => fileTokens(file) * bytesPerToken;

const closingRequest =
  "The token limit of this run is nearly used up, and you have no more tools. Reply now, in one or two " +
  "sentences, with what you found, and say what is left to do.";

/** Rough size of what a request contains. */
function bytesIn(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 4;
  if (ArrayBuffer.isView(value)) return fileBytes({});
  if (!Array.isArray(value) && (value as { readonly type?: unknown }).type === "file") return fileBytes(value);
  let sum = 0;
  for (const each of Object.values(value)) sum += bytesIn(each);
  return sum;
}

function usedBy({ usage }: Extract<ModelPart, { readonly type: "finish" }>, estimate: Used): Used {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens.total === undefined && outputTokens.total === undefined) return estimate;
  return {
    inputTokens: inputTokens.total ?? estimate.inputTokens,
    outputTokens: outputTokens.total ?? estimate.outputTokens,
    cacheRead: inputTokens.cacheRead ?? 0,
    cacheWrite: inputTokens.cacheWrite ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}

/** The last reply of a run: without tools, and short enough for what is left. */
function closing({ tools, toolChoice: _, ...call }: ModelCall, tokens: number): ModelCall {
  const maxOutputTokens = Math.min(tokens, call.maxOutputTokens ?? tokens);
  const usesTools = tools !== undefined && call.prompt.some(({ role }) => role === "tool");
  const request = { role: "user" as const, content: [{ type: "text" as const, text: closingRequest }] };
  return { ...call, maxOutputTokens, prompt: usesTools ? [...call.prompt, request] : call.prompt };
}

/** The server answered with an error, or not at all, and has charged nothing. */
const hadNoEffect = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === "AI_APICallError";

const unlimited: Spending = { begin: async () => ({ id: "" }), end: async () => {} };

export function createAccounted(spending: Spending = unlimited): Accounted {
  return async (model, call, ask, onAnswer = () => {}) => {
    const inputTokens = tokensOf(bytesIn(call.prompt) + bytesIn(call.tools ?? []));
    const limit = call.maxOutputTokens === undefined ? {} : { outputTokens: call.maxOutputTokens };
    const { id, last } = await spending.begin({ model, inputTokens, ...limit });
    const { abortSignal } = call;
    let bytes = 0;
    let ended = false;
    const estimate = (): Used => ({ inputTokens, outputTokens: tokensOf(bytes), estimated: true });
    const end = (used: Used | null) => {
      if (ended) return;
      ended = true;
      abortSignal?.removeEventListener("abort", breaksOff);
      // Not awaited: the reply must not wait for the ledger.
      void spending.end(id, used);
    };
    // The reader of an aborted stream may never ask for its next part.
    const breaksOff = () => end(estimate());
    abortSignal?.addEventListener("abort", breaksOff, { once: true });

    async function* counted(stream: ModelStream["stream"]): AsyncGenerator<ModelPart> {
      try {
        for await (const part of stream) {
          if ("delta" in part && typeof part.delta === "string") bytes += Buffer.byteLength(part.delta);
          if (part.type === "finish") {
            end(usedBy(part, estimate()));
            onAnswer(part.usage.inputTokens.total);
          }
          if (part.type === "error") breaksOff();
          yield part;
        }
      } finally {
        breaksOff();
      }
    }

    try {
      const answer = await ask(last === undefined ? call : closing(call, last));
      return { ...answer, stream: ReadableStream.from(counted(answer.stream)) };
    } catch (thrown) {
      end(hadNoEffect(thrown) ? null : estimate());
      throw thrown;
    }
  };
}
