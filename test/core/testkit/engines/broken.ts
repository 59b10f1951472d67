/** Engines with one fault each, and the test of the contract that is meant for it. */
import {
  defineEngine,
  type EngineDefinition,
  EngineError,
  type EngineTurn,
  type Json,
  type PluginDefinition,
  type TurnEvent,
} from "service-gateway/sdk";
import { sailor } from "./sailor.ts";

export interface BrokenEngine {
  readonly name: string;
  readonly engine: PluginDefinition;
  /** Title of the test. */
  readonly caughtBy: string;
  /** What the failure says. */
  readonly says: RegExp;
}

type Run = EngineDefinition["run"];

/** The sound engine with another `run`. */
function changed(change: (run: Run) => Run): PluginDefinition {
  return defineEngine({ id: "sailor", version: "1.0.0", host: "^0.2.0", needsModel: true, run: change(sailor) });
}

/** Every event, changed. */
const mapped = (change: (event: TurnEvent) => readonly TurnEvent[]) =>
  changed(
    (run) =>
      async function* (turn, signal) {
        for await (const event of run(turn, signal)) yield* change(event);
      },
  );

/** Every error, changed. */
const failing = (change: (error: EngineError) => unknown) =>
  changed(
    (run) =>
      async function* (turn, signal) {
        try {
          yield* run(turn, signal);
        } catch (error) {
          throw error instanceof EngineError && !signal.aborted ? change(error) : error;
        }
      },
  );

const renamed = (from: string, to: string) =>
  failing((error) =>
    error.reason === from ? new EngineError(to, { retryable: error.retryable, detail: error.message }) : error,
  );

/** Another turn than the one that was asked for. */
const asked = (change: (turn: EngineTurn) => EngineTurn) =>
  changed((run) => (turn, signal) => run(change(turn), signal));

let lastText = "";

export const brokenEngines: readonly BrokenEngine[] = [
  {
    name: "asks again after a break, and continues the reply",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          try {
            yield* run(turn, signal);
          } catch (error) {
            if (!(error instanceof EngineError) || error.reason !== "model_cut_off") throw error;
            yield* run(turn, signal);
          }
        },
    ),
    caughtBy: "stream > a beginning that broke off is taken back before the next",
    says: /Yield restart before the text of another request/,
  },
  {
    name: "ends twice",
    engine: mapped((event) => (event.type === "done" ? [event, event] : [event])),
    caughtBy: "turn > ends with done, once",
    says: /2 done events/,
  },
  {
    name: "keeps the text of a turn outside of it",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          lastText = turn.inbound.text;
          for await (const event of run(turn, signal)) {
            const isOther = event.type === "text" && lastText !== turn.inbound.text;
            yield isOther ? { ...event, delta: lastText } : event;
          }
        },
    ),
    caughtBy: "turn > several run at once",
    says: /Several turns run at once|Keep the state of a turn/,
  },
  {
    name: "adds to the messages that it is handed",
    engine: asked((turn) => {
      (turn.messages as { role: "user"; text: string }[]).unshift({ role: "user", text: "Be kind." });
      return turn;
    }),
    caughtBy: "turn > does not modify its input",
    says: /modifies its input/,
  },
  {
    name: "throws errors of its own",
    engine: failing((error) => (error.reason === "model_refused" ? new Error(error.message) : error)),
    caughtBy: "turn > accepts every text",
    says: /an error that is not an EngineError/,
  },
  {
    name: "ends an aborted turn as if it were whole",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          try {
            yield* run(turn, signal);
          } catch (error) {
            if (!signal.aborted || turn.messages[0]?.text === "Hello") throw error;
            yield { type: "done" };
          }
        },
    ),
    caughtBy: "abort > ends the request",
    says: /ends with done/,
  },
  {
    name: "answers an aborted turn",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          if (signal.aborted) yield { type: "done" };
          else yield* run(turn, signal);
        },
    ),
    caughtBy: "abort > a turn aborted before its start produces no reply",
    says: /the turn runs to done/,
  },
  {
    name: "keeps a timer",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          for await (const event of run(turn, signal)) {
            if (event.type === "done") setInterval(() => {}, 60_000).unref();
            yield event;
          }
        },
    ),
    caughtBy: "leftovers > none after a turn",
    says: /1 timers remain/,
  },
  {
    name: "keeps a listener",
    engine: changed((run) => (turn, signal) => {
      signal.addEventListener("abort", () => {});
      return run(turn, signal);
    }),
    caughtBy: "leftovers > no listener on the signal",
    says: /12 listeners/,
  },
  {
    name: "waits for the whole answer",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          const events: TurnEvent[] = [];
          for await (const event of run(turn, signal)) events.push(event);
          for (const event of events) {
            signal.throwIfAborted();
            yield event;
          }
        },
    ),
    caughtBy: "stream > each piece is yielded at once",
    says: /Yield each piece as it arrives/,
  },
  {
    name: "loses spaces",
    engine: mapped((event) => [event.type === "text" ? { ...event, delta: event.delta.trim() } : event]),
    caughtBy: "stream > the text is what the server sends, in order",
    says: /but the engine yields "onetwo/,
  },
  {
    name: "leaves the instructions out",
    engine: asked((turn) => ({ ...turn, instructions: "" })),
    caughtBy: "request > has the instructions and the messages, in order",
    says: /The request lacks/,
  },
  {
    name: "leaves results out",
    engine: asked((turn) => ({
      ...turn,
      tools: turn.tools.map((tool) => ({
        ...tool,
        async run(args: Json, signal: AbortSignal) {
          await tool.run(args, signal);
          return null;
        },
      })),
    })),
    caughtBy: "tools > are run, and their results go back",
    says: /is not returned to the model/,
  },
  {
    name: "says nothing of its tools",
    engine: mapped((event) => (event.type === "tool" ? [] : [event])),
    caughtBy: "tools > are reported",
    says: /Yield started, then finished/,
  },
  {
    name: "fails with a tool",
    engine: asked((turn) => ({
      ...turn,
      tools: turn.tools.map((tool) => ({
        ...tool,
        run: (args: Json, signal: AbortSignal) =>
          tool.run(args, signal).catch((error: Error) => {
            throw new EngineError("tool_failed", { detail: error.message });
          }),
      })),
    })),
    caughtBy: "tools > a failing tool does not end the turn",
    says: /A failed tool ended the turn/,
  },
  {
    name: "keeps the signal from its tools",
    engine: asked((turn) => ({
      ...turn,
      tools: turn.tools.map((tool) => ({
        ...tool,
        async run(args: Json, signal: AbortSignal) {
          const running = tool.run(args, new AbortController().signal);
          return signal.aborted ? null : await running;
        },
      })),
    })),
    caughtBy: "tools > an abort reaches the running tool",
    says: /the tool's signal was not/,
  },
  {
    name: "takes a full context for a refusal",
    engine: renamed("model_context_full", "model_failed"),
    caughtBy: "failures > full has the right code",
    says: /model_failed. Use model_context_full/,
  },
  {
    name: "takes a wrong key for a fault of the server",
    engine: renamed("model_unauthorized", "model_unavailable"),
    caughtBy: "failures > unauthorized has the right code",
    says: /Use model_unauthorized/,
  },
  {
    name: "gives a busy server up",
    engine: failing((error) => (error.reason === "model_busy" ? new EngineError("model_busy") : error)),
    caughtBy: "failures > busy has the right code",
    says: /not retryable/,
  },
  {
    name: "takes nothing for an answer",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          try {
            yield* run(turn, signal);
          } catch (error) {
            if (!(error instanceof EngineError) || error.reason !== "model_empty") throw error;
            yield { type: "done" };
          }
        },
    ),
    caughtBy: "failures > empty has the right code",
    says: /the turn ends with done/,
  },
  {
    name: "repeats the key that the server repeats",
    engine: changed(
      (run) =>
        async function* (turn, signal) {
          try {
            yield* run(turn, signal);
          } catch (error) {
            if (!(error instanceof EngineError) || error.reason !== "model_unauthorized") throw error;
            throw new EngineError("model_unauthorized", { detail: `The key ${turn.providers.sea?.apiKey} is wrong` });
          }
        },
    ),
    caughtBy: "secrets > a refused key appears nowhere",
    says: /The key of a provider is in an error/,
  },
  {
    name: "asks without a model",
    engine: asked((turn) => ({ ...turn, model: turn.model ?? "sea/any" })),
    caughtBy: "failures > a missing model has the right code",
    says: /does not throw model_missing/,
  },
];
