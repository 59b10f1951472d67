/** A small engine without a fault, for the server in `harbour.ts`: lines of JSON over HTTP. */
import { type EngineDefinition, EngineError, type EngineTurn, type Json, type TurnEvent } from "service-gateway/sdk";

/** A line of an answer. */
export type Line = { readonly text: string } | { readonly tool: string; readonly args: Json } | { readonly end: true };

const failures: Readonly<Record<number, () => EngineError>> = {
  400: () => new EngineError("model_refused"),
  401: () => new EngineError("model_unauthorized", { detail: "The harbour refuses the key" }),
  404: () => new EngineError("model_unknown"),
  413: () => new EngineError("model_context_full"),
  402: () => new EngineError("model_quota"),
  429: () => new EngineError("model_busy", { retryable: true }),
  503: () => new EngineError("model_unavailable", { retryable: true }),
};

async function ask(turn: EngineTurn, notes: readonly string[], signal: AbortSignal): Promise<Response> {
  const provider = turn.providers.sea;
  const { instructions, messages, tools } = turn;
  const body = JSON.stringify({
    instructions,
    messages: messages.map(({ text }) => text),
    tools: tools.map(({ name }) => name),
    notes,
  });
  const headers = { authorization: `Bearer ${provider?.apiKey}` };
  let response: Response;
  try {
    response = await fetch(String(provider?.baseUrl), { method: "POST", body, headers, signal });
  } catch {
    signal.throwIfAborted();
    throw new EngineError("model_unreachable", { retryable: true, detail: "The harbour does not answer" });
  }
  if (response.ok) return response;
  await response.text();
  throw failures[response.status]?.() ?? new EngineError("model_failed");
}

async function* linesOf(response: Response, signal: AbortSignal): AsyncGenerator<Line> {
  let rest = "";
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        signal.throwIfAborted();
        yield JSON.parse(line) as Line;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new EngineError(error instanceof SyntaxError ? "model_garbled" : "model_cut_off", { retryable: true });
  }
}

/** Asks, runs tools, and asks again until there is an answer. */
export const sailor: EngineDefinition["run"] = async function* (turn, signal): AsyncGenerator<TurnEvent> {
  if (turn.model === undefined) throw new EngineError("model_missing");
  signal.throwIfAborted();
  const stop = new AbortController();
  const notes: string[] = [];
  try {
    for (;;) {
      const response = await ask(turn, notes, AbortSignal.any([signal, stop.signal]));
      let spoken = "";
      const before = notes.length;
      for await (const line of linesOf(response, signal)) {
        if ("text" in line) {
          spoken += line.text;
          yield { type: "text", delta: line.text };
        } else if ("tool" in line) {
          yield { type: "tool", name: line.tool, state: "started" };
          const result = await runTool(turn, line, signal);
          notes.push(JSON.stringify(result));
          yield { type: "tool", name: line.tool, state: "finished" };
        }
      }
      signal.throwIfAborted();
      if (notes.length > before) continue;
      if (spoken.trim() === "") throw new EngineError("model_empty");
      return yield { type: "done" };
    }
  } finally {
    stop.abort();
  }
};

async function runTool(
  { tools }: EngineTurn,
  { tool: name, args }: { readonly tool: string; readonly args: Json },
  signal: AbortSignal,
): Promise<Json> {
  const tool = tools.find((one) => one.name === name);
  try {
    return (await tool?.run(args, signal)) ?? null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EngineError) throw error;
    return { failed: (error as Error).message };
  }
}
