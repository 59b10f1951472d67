/** The engine on the AI SDK, for any server that supports chat completions, in particular local ones. */
import { definePlugin, Type } from "service-gateway/sdk";
import { complete } from "./complete.ts";
import { createCooldowns } from "./cooldowns.ts";
import { describeImage } from "./describe.ts";
import { createLibrary } from "./library.ts";
import { createMemories } from "./memory.ts";
import { explainProtocols } from "./native/explain.ts";
import { createNatives } from "./native/packages.ts";
import { providersOf } from "./provider.ts";
import { runTurn } from "./run.ts";
import { skippedModels } from "./skipped.ts";

/** Only gateways whose people speak need it. */
const speech = () => import("./speech/index.ts");

const milliseconds = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 3_600_000, default: fallback, description });

export default definePlugin({
  id: "ai",
  version: "1.0.0",
  host: "^0.2.0",
  options: Type.Object({
    firstChunkMs: milliseconds(
      120_000,
      "Longest wait for the first word of an answer; a local model may have to be loaded first.",
    ),
    chunkMs: milliseconds(60_000, "Longest pause within an answer."),
    retries: Type.Integer({ minimum: 0, maximum: 10, default: 2, description: "How often a busy model is retried." }),
    retryDelayMs: milliseconds(1_000, "Wait before the first retry; doubled each time, unless the server sets it."),
    maxSteps: Type.Integer({ minimum: 1, maximum: 200, default: 20, description: "Rounds of tool calls in one turn." }),
  }),
  setup(host, { maxSteps, ...patience }) {
    const library = createLibrary();
    const cooldowns = createCooldowns({ now: () => host.now() });
    const memories = createMemories();
    const natives = createNatives({
      onBroken: (vendor, fault) =>
        host.log.error({ fault }, `@ai-sdk/${vendor} cannot be used; chat completions are used`),
    });
    const options = async () => ({
      library: await library(),
      natives,
      log: host.log,
      cooldowns,
      memories,
      patience,
      maxSteps,
    });
    host.engine({
      id: "ai",
      needsModel: true,
      async prepare() {
        await library();
      },
      async *run(turn, signal) {
        yield* runTurn(turn, signal, await options());
      },
      async describe(image, by, signal) {
        return describeImage(image, by, signal, await options());
      },
      async transcribe(sound, by, signal) {
        return (await speech()).transcribe(sound, by, signal, options);
      },
      async speak(text, by, signal) {
        return (await speech()).speak(text, by, signal);
      },
      async complete(request, by, signal) {
        return complete(request, by, signal, await options());
      },
      async skipped(by) {
        // What is missing is known before the first turn, for the check.
        await natives.of(providersOf([by.model ?? "", ...by.fallbacks], by.providers));
        return skippedModels(by, cooldowns);
      },
    });
    host.check({ name: "protocols of vendors", explain: () => explainProtocols(natives.missing()) });
  },
});
