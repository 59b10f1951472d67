/**
 * Keeps the digits of numbers in the arguments of tools. The SDK parses them with `JSON.parse`, which rounds numbers
 * that JavaScript cannot represent, for the tool and for the next request to the model. The text that the model wrote
 * is noted here, and used in both places.
 */
import { parseExact } from "service-gateway/sdk/tools";
import type { Library, Model, ModelCall, ModelPart } from "./library.ts";

export interface ExactNumbers {
  /** The model, whose calls of tools are noted and shown to it as it wrote them. */
  follow(model: Model): Model;
  /** The text of the arguments of a call; `undefined` if the digits that the model wrote are unknown. */
  textOf(callId: string, args: unknown): string | undefined;
}

const mark = "gateway";

/** Marks a call whose numbers are doubles on their way: the text has digits that the model did not write. */
export const withRoundedNumbers = (part: ModelPart): ModelPart =>
  part.type === "tool-call"
    ? { ...part, providerMetadata: { ...part.providerMetadata, [mark]: { roundedNumbers: true } } }
    : part;

const isRounded = ({ providerMetadata }: Extract<ModelPart, { readonly type: "tool-call" }>): boolean =>
  providerMetadata?.[mark]?.roundedNumbers === true;

/** One for each turn. */
export function createExactNumbers({ wrapLanguageModel }: Pick<Library, "wrapLanguageModel">): ExactNumbers {
  // Some servers use an id again in a later step, so the arguments belong to the key.
  const texts = new Map<string, string>();
  const keyOf = (callId: string, args: unknown) => `${callId} ${JSON.stringify(args)}`;
  const written = (callId: string, args: unknown) => (texts.size === 0 ? undefined : texts.get(keyOf(callId, args)));
  /** Calls whose numbers the server has rounded. */
  const rounded = new Set<string>();

  function note(part: ModelPart): void {
    if (part.type !== "tool-call" || !/[\d.]{16}|\de[+-]?\d{3}/i.test(part.input)) return;
    try {
      const key = keyOf(part.toolCallId, JSON.parse(part.input));
      if (isRounded(part)) rounded.add(key);
      else texts.set(key, part.input);
    } catch {
      // The SDK reports to the model that its arguments are not JSON.
    }
  }

  function asWritten({ prompt, ...call }: ModelCall): ModelCall {
    if (texts.size === 0) return { ...call, prompt };
    return {
      ...call,
      prompt: prompt.map((message) => {
        if (message.role !== "assistant") return message;
        const content = message.content.map((part) => {
          const text = part.type === "tool-call" ? written(part.toolCallId, part.input) : undefined;
          return text === undefined ? part : { ...part, input: parseExact(text) };
        });
        return { ...message, content } as typeof message;
      }),
    };
  }

  return {
    textOf: (callId, args) =>
      rounded.has(keyOf(callId, args)) ? undefined : (written(callId, args) ?? JSON.stringify(args)),
    follow: (model) =>
      wrapLanguageModel({
        model,
        middleware: {
          specificationVersion: "v4",
          transformParams: async ({ params }) => asWritten(params),
          async wrapStream({ doStream }) {
            const { stream, ...rest } = await doStream();
            const noting = new TransformStream<ModelPart, ModelPart>({
              transform(part, controller) {
                note(part);
                controller.enqueue(part);
              },
            });
            return { ...rest, stream: stream.pipeThrough(noting) };
          },
        },
      }),
  };
}
