/** The engine keeps the contract that strangers are held to, on a server that speaks chat completions. */
import { engineContract, type ModelFailure, type ModelServer } from "service-gateway/testkit";
import ai from "../../../plugins/ai/index.ts";
import { type Answer, callTools, cut, garble, refuse, say, stall } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";

const key = "contract-key-5512";

const failures: Readonly<Record<Exclude<ModelFailure, "away">, () => Answer>> = {
  busy: () => refuse(429, "Slow down."),
  cut: () => cut("one "),
  empty: () => say(""),
  full: () => refuse(400, "This model's maximum context length is 100 tokens."),
  garbled: garble,
  hang: () => stall("one "),
  quota: () => refuse(402, "Your quota is used up."),
  unauthorized: () => refuse(401, `The key ${key} is wrong.`),
  unavailable: () => refuse(503, "Loading."),
  unknown: () => refuse(404, "There is no such model."),
};

/** More than an engine asks for in one turn. */
const manyTimes = 12;

async function openServer(): Promise<ModelServer> {
  const server = await createOpenAiServer();
  let left = 0;
  const noted = new Set<object>();
  const note = () => {
    for (const request of server.requests.filter((one) => !noted.has(one))) {
      noted.add(request);
      void request.gone.then(() => {
        left += 1;
      });
    }
  };
  return {
    turn: {
      model: "local/small",
      providers: { local: { api: "openai-compatible", baseUrl: server.url, apiKey: key } },
    },
    async fail(failure) {
      if (failure === "away") return await server.close();
      server.script(...Array.from({ length: manyTimes }, failures[failure]));
    },
    callTool: (name, args) => server.script(callTools([{ name, args: args as object }]), say("It is done.")),
    requests: () => server.requests.map(({ body }) => JSON.stringify(body)),
    running() {
      note();
      return server.requests.length - left;
    },
    close: () => server.close(),
  };
}

engineContract({
  engine: ai,
  options: { retryDelayMs: 1 },
  server: {
    can: [
      "away",
      "busy",
      "cut",
      "empty",
      "full",
      "garbled",
      "hang",
      "quota",
      "tools",
      "unauthorized",
      "unavailable",
      "unknown",
    ],
    open: openServer,
  },
});
