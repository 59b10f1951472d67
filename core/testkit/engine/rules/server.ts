/** An engine and its model server: what goes there, what comes back, and what each failure is called. */
import { EngineError } from "../../../contract/index.ts";
import type { EngineTool, Json } from "../../../sdk/contract.ts";
import { renderFields } from "../../channel/test-account.ts";
import type { EngineBench, Run } from "../bench.ts";
import type { ModelFailure } from "../options.ts";
import type { EngineRule } from "../rule.ts";

const question = "one two three four five six seven eight nine ten";

async function streamsInOrder(bench: EngineBench): Promise<void> {
  const { text, error } = await bench.run(bench.turn(question));
  if (text.trim() !== question)
    throw new Error(`The server sent "${question}", but the engine yields "${text}".`, { cause: error });
}

async function streamsAtOnce(bench: EngineBench): Promise<void> {
  await bench.server.fail("hang");
  const stop = new AbortController();
  let isSeen = false;
  const running = bench.run(bench.turn(question), {
    signal: stop.signal,
    onEvent: ({ type }) => {
      isSeen ||= type === "text";
    },
  });
  running.catch(() => {});
  await bench.until(
    () => isSeen,
    () => "The server has sent a word and continues, but the engine yields no text. Yield each piece as it arrives.",
  );
  stop.abort();
  await running;
}

/** An engine may ask again after a break. Then the reply has the text of the last request alone. */
async function takesBack(bench: EngineBench): Promise<void> {
  await bench.server.fail("cut");
  const { text } = await bench.run(bench.turn(question));
  const [word = ""] = question.split(" ");
  if (text.split(word).length > 2)
    throw new Error(
      `The server breaks off after "${word}", and the reply is "${text}". Yield restart before the text of ` +
        "another request.",
    );
}

async function closesAtAbort(bench: EngineBench): Promise<void> {
  await bench.server.fail("hang");
  const stop = new AbortController();
  const running = bench.run(bench.turn(question), { signal: stop.signal });
  running.catch(() => {});
  await bench.until(
    () => bench.server.running() > 0,
    () => "The engine does not call the server.",
  );
  stop.abort();
  const { events } = await running;
  if (events.some(({ type }) => type === "done"))
    throw new Error("An aborted turn ends with done, so its beginning would be treated as the reply.");
  await bench.until(
    () => bench.server.running() === 0,
    () => "A turn was aborted, but its request continues. Pass the signal to the request.",
  );
}

async function sendsHistory(bench: EngineBench): Promise<void> {
  const messages = ["first question", "first answer", "second question"].map((text, index) => ({
    role: index === 1 ? ("assistant" as const) : ("user" as const),
    text,
  }));
  await bench.run(bench.turn("second question", { instructions: "Speak like a sailor.", messages }));
  const [request = ""] = bench.server.requests();
  const places = ["Speak like a sailor.", ...messages.map(({ text }) => text)].map((text) => request.indexOf(text));
  if (places.some((place) => place < 0))
    throw new Error("The request lacks the instructions or a message of the turn.");
  if (places.slice(1).some((place, index) => index > 0 && place < (places[index] as number)))
    throw new Error("The request contains the messages of the turn in another order. Send the oldest first.");
}

/** A tool that notes what it is called with. */
function createTool(answer: (args: Json, signal: AbortSignal) => Promise<Json>): {
  readonly tool: EngineTool;
  readonly calls: Json[];
} {
  const calls: Json[] = [];
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  return {
    calls,
    tool: {
      name: "weather",
      description: "Reports the weather in a city.",
      parameters,
      run(args, signal) {
        calls.push(args);
        return answer(args, signal);
      },
    },
  };
}

async function askTool(
  bench: EngineBench,
  answer: Parameters<typeof createTool>[0],
  signal?: AbortSignal,
): Promise<Run & { readonly calls: Json[] }> {
  const { tool, calls } = createTool(answer);
  if (bench.server.callTool === undefined) throw new Error("server.can lists tools, but the server has no callTool().");
  bench.server.callTool("weather", { city: "Oslo" });
  const run = await bench.run(
    bench.turn("How is the weather?", { tools: [tool] }),
    signal === undefined ? {} : { signal },
  );
  return { ...run, calls };
}

async function callsTools(bench: EngineBench): Promise<void> {
  const { calls, text, error } = await askTool(bench, async () => ({ sky: "a cloudless sky" }));
  if (JSON.stringify(calls) !== '[{"city":"Oslo"}]')
    throw new Error(`The model called a tool with {"city":"Oslo"}, but it ran with ${JSON.stringify(calls)}.`);
  if (bench.server.requests().at(-1)?.includes("a cloudless sky") !== true)
    throw new Error("The result of a tool is not returned to the model.");
  if (error !== undefined || text.trim() === "")
    throw new Error(`After a tool call, the turn has no reply: ${String(error)}.`, { cause: error });
}

async function reportsTools(bench: EngineBench): Promise<void> {
  const { events } = await askTool(bench, async () => ({ sky: "clear" }));
  const states = events.flatMap((event) => (event.type === "tool" && event.name === "weather" ? [event.state] : []));
  if (states.join() !== "started,finished")
    throw new Error(`A tool call has the events ${states.join() || "none"}. Yield started, then finished.`);
}

async function survivesTools(bench: EngineBench): Promise<void> {
  const { error, text } = await askTool(bench, async () => {
    throw new Error("The tool is broken.");
  });
  if (error !== undefined || text.trim() === "")
    throw new Error(`A failed tool ended the turn. Return the error to the model and continue. ${String(error)}`, {
      cause: error,
    });
}

async function abortsTools(bench: EngineBench): Promise<void> {
  const stop = new AbortController();
  let reached = false;
  await askTool(
    bench,
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reached = true;
          reject(new Error("aborted"));
        });
        stop.abort();
      }),
    stop.signal,
  );
  if (!reached)
    throw new Error("A turn was aborted while a tool ran, but the tool's signal was not. Pass the signal on.");
}

/** What the operator reads of a failure, as a code; any of them is right. */
const codes: Readonly<Record<Exclude<ModelFailure, "hang">, readonly string[]>> = {
  away: ["model_unreachable"],
  busy: ["model_busy"],
  cut: ["model_cut_off", "model_unreachable"],
  empty: ["model_empty"],
  full: ["model_context_full"],
  garbled: ["model_garbled", "model_failed"],
  quota: ["model_quota"],
  unauthorized: ["model_unauthorized"],
  unavailable: ["model_unavailable"],
  unknown: ["model_unknown"],
};

/** Failures that may be over when the same is asked again. */
const passing: readonly string[] = ["away", "busy", "unavailable"];

async function failure(bench: EngineBench, kind: Exclude<ModelFailure, "hang">): Promise<EngineError> {
  await bench.server.fail(kind);
  const { error, events } = await bench.run(bench.turn(question));
  if (error === undefined || events.some(({ type }) => type === "done"))
    throw new Error(`The server fails (${kind}), but the turn ends with done. Throw an EngineError.`);
  if (!(error instanceof EngineError))
    throw new Error(
      `The server fails (${kind}), and the engine throws an error that is not an EngineError: ${String(error)}.`,
      {
        cause: error,
      },
    );
  return error;
}

function named(kind: Exclude<ModelFailure, "hang">): EngineRule {
  return {
    title: `failures > ${kind} has the right code`,
    needs: [kind],
    async run(bench) {
      const { reason, retryable, message } = await failure(bench, kind);
      if (!codes[kind].includes(reason))
        throw new Error(`The server fails (${kind}), and the code is ${reason}. Use ${codes[kind].join(" or ")}.`);
      if (passing.includes(kind) && !retryable)
        throw new Error(`The server fails (${kind}), but the error is not retryable. A later attempt may succeed.`);
      if (message.trim() === "" || message.includes("\n"))
        throw new Error(`The message of ${reason} is not one sentence: ${JSON.stringify(message)}.`);
    },
  };
}

async function hidesKey(bench: EngineBench): Promise<void> {
  const error = await failure(bench, "unauthorized");
  const keys = Object.values(bench.server.turn.providers).flatMap(({ apiKey = [] }) => apiKey);
  if (keys.length === 0)
    throw new Error("The providers of the server have no apiKey. Set one, so that the test can detect leaks.");
  const reportedText = [error.message, error.hint, ...bench.logged, renderFields({ ...error, cause: undefined })].join(
    "\n",
  );
  if (keys.some((key) => reportedText.includes(key)))
    throw new Error("The key of a provider is in an error or in the log. Remove it from the server's texts.");
}

async function needsModel(bench: EngineBench): Promise<void> {
  if (bench.engine.needsModel !== true) return;
  const { model: _, ...turn } = bench.turn("Hello");
  const { error } = await bench.run(turn);
  if (!(error instanceof EngineError) || error.reason !== "model_missing")
    throw new Error("No model is configured, but the engine does not throw model_missing.", { cause: error });
}

async function countsUsage(bench: EngineBench): Promise<void> {
  const { events } = await bench.run(bench.turn(question));
  for (const event of events) {
    if (event.type !== "usage") continue;
    if (event.inputTokens < 0 || event.outputTokens < 0 || event.model === "")
      throw new Error(`The usage ${JSON.stringify(event)} does not name a model.`);
  }
}

export const serverRules: readonly EngineRule[] = [
  { title: "stream > the text is what the server sends, in order", needs: [], run: streamsInOrder },
  { title: "stream > each piece is yielded at once", needs: ["hang"], run: streamsAtOnce },
  { title: "stream > usage names its model", needs: [], run: countsUsage },
  { title: "stream > a beginning that broke off is taken back before the next", needs: ["cut"], run: takesBack },
  { title: "abort > ends the request", needs: ["hang"], run: closesAtAbort },
  { title: "request > has the instructions and the messages, in order", needs: [], run: sendsHistory },
  { title: "tools > are run, and their results go back", needs: ["tools"], run: callsTools },
  { title: "tools > are reported", needs: ["tools"], run: reportsTools },
  { title: "tools > a failing tool does not end the turn", needs: ["tools"], run: survivesTools },
  { title: "tools > an abort reaches the running tool", needs: ["tools"], run: abortsTools },
  { title: "failures > a missing model has the right code", needs: [], run: needsModel },
  ...(Object.keys(codes) as (keyof typeof codes)[]).map(named),
  { title: "secrets > a refused key appears nowhere", needs: ["unauthorized"], run: hidesKey },
];
