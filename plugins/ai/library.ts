/** Imports the AI SDK when it is first needed, because it takes longer to load than the rest of the gateway. */

async function load() {
  const [ai, compatible] = await Promise.all([import("ai"), import("@ai-sdk/openai-compatible")]);
  return {
    streamText: ai.streamText,
    isStepCount: ai.isStepCount,
    jsonSchema: ai.jsonSchema,
    dynamicTool: ai.dynamicTool,
    wrapLanguageModel: ai.wrapLanguageModel,
    createOpenAICompatible: compatible.createOpenAICompatible,
  };
}

export type Library = Awaited<ReturnType<typeof load>>;
/** A model as the SDK uses it. */
export type Model = ReturnType<Library["wrapLanguageModel"]>;
export type ModelCall = Parameters<Model["doStream"]>[0];
export type ModelStream = Awaited<ReturnType<Model["doStream"]>>;
export type ModelPart = ModelStream["stream"] extends ReadableStream<infer P> ? P : never;

/** Creates the loader of one plugin instance. A failed load is retried. */
export function createLibrary(): () => Promise<Library> {
  let loading: Promise<Library> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
