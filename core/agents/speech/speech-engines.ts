/** Calls the engine of a plugin that can transcribe or speak with a model. */
import { agentSettings, type GatewayConfig, knownAgentId, providerOf } from "../../config/index.ts";
import { EngineError } from "../../contract/index.ts";
import { callPlugin, kindOf, pluginDeadlines, unusable } from "../../host/index.ts";
import type { EngineDefinition } from "../../sdk/contract.ts";
import type { Asker } from "../spending/asker.ts";
import type { Spending } from "../spending/spending.ts";
import type { Engines } from "../turn/engines.ts";
import type { Listener } from "../turn/hearing-models.ts";
import type { ResolveProviders } from "../turn/providers.ts";
import type { Speaker } from "./settings.ts";

export interface SpeechEnginesOptions {
  readonly config: () => GatewayConfig;
  readonly engines: Engines;
  /** The settings of the providers of these models, with their secrets. */
  readonly providers: ResolveProviders;
  readonly spending: Pick<Spending, "meter">;
}

export interface Sound {
  readonly path: string;
  readonly mimeType: string;
  readonly seconds: number;
}

/** Both throw as an engine does. */
export interface SpeechEngines {
  transcribe(sound: Sound, by: Listener & { readonly model: string }, at: CallAt): Promise<string>;
  speak(
    speech: { readonly text: string; readonly seconds: number },
    by: Speaker & { readonly model: string },
    at: CallAt,
  ): Promise<Uint8Array>;
}

interface CallAt {
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

type Able = "transcribe" | "speak";
type CalledBy = Pick<Parameters<NonNullable<EngineDefinition["transcribe"]>>[1], "model" | "providers" | "spending">;

export function createSpeechEngines({ config, engines, providers, spending }: SpeechEnginesOptions): SpeechEngines {
  /** The engine of the agent if it can, else the first one that can. */
  function engineFor(able: Able, { agentId }: Asker): EngineDefinition {
    const own = agentSettings(config(), knownAgentId(config(), agentId)).engine;
    const all = [...(own === undefined ? [] : [own]), ...engines.ids()].flatMap((id) => engines.get(id) ?? []);
    const found = all.find((engine) => engine[able] !== undefined);
    if (found !== undefined) return found;
    throw new EngineError("speech_failed", {
      detail: `no plugin has an engine that can ${able}`,
      hint: "Enable the plugin ai, or name a command in place of the model.",
    });
  }

  /** The provider of the model, as the engine is handed it. Another one with an unreadable secret does not matter. */
  function providersFor(model: string) {
    const { usable, unusable: broken } = providers([model]);
    const cause = broken.get(providerOf(model));
    if (cause !== undefined) throw cause;
    return usable;
  }

  /** `isUsable`: what the engine returned is what its type says. */
  async function call<Result>(
    able: Able,
    { model, asker, signal }: CallAt & { readonly model: string },
    {
      ask,
      isUsable,
    }: {
      readonly ask: (engine: EngineDefinition, by: CalledBy) => Promise<Result> | undefined;
      readonly isUsable: (answer: unknown) => boolean;
    },
  ): Promise<Result> {
    const engine = engineFor(able, asker);
    const asked = { plugin: engines.plugin?.(engine.id) ?? engine.id, doing: `${able} of the engine ${engine.id}` };
    const meter = spending.meter({ ...asker, purpose: able });
    const by = { model, providers: providersFor(model), spending: meter.spending };
    const answer = await callPlugin(asked, pluginDeadlines[able], () => ask(engine, by), { signal });
    if (!isUsable(answer)) throw unusable(asked, kindOf(answer));
    return answer as Result;
  }

  return {
    transcribe: (sound, { model, language }, at) =>
      call(
        "transcribe",
        { ...at, model },
        {
          ask: (engine, by) => engine.transcribe?.(sound, { ...by, language }, at.signal),
          isUsable: (answer) => typeof answer === "string",
        },
      ),
    async speak(speech, { model, voice }, at) {
      const { data } = await call(
        "speak",
        { ...at, model },
        {
          ask: (engine, by) => engine.speak?.(speech, { ...by, voice }, at.signal),
          isUsable: (answer) => (answer as { readonly data?: unknown } | undefined)?.data instanceof Uint8Array,
        },
      );
      return data;
    },
  };
}
