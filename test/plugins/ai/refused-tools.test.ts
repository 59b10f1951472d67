/** A tool that a server does not accept costs that tool, not the turn: in the words of each kind of server. */
import type { EngineProvider, EngineTool, TurnEvent } from "service-gateway/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Answer, cut, errorInStream, refuse, say } from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

let server: OpenAiServer;
let providers: Record<string, EngineProvider>;
const never = new AbortController().signal;

beforeEach(async () => {
  server = await createOpenAiServer();
  providers = { local: { api: "openai-compatible", baseUrl: server.url } };
});

afterEach(() => server.close());

const tool = (name: string, type = "string"): EngineTool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { x: { type } } },
  run: async () => "done",
});
const fifteen = Array.from({ length: 15 }, (_, index) =>
  index === 9 ? tool("srv__badtype", "any") : tool(`srv__tool${index}`),
);
const offered = (index: number) => server.requests[index]?.body.tools?.map((one) => one.function.name) ?? [];
const refusedIn = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "tool-refused" ? [event.name] : []));

function inStream(message: string): Answer {
  return errorInStream("", { error: { error: { message, type: "invalid_request_error", code: 400 } } });
}

const named: readonly [string, Answer][] = [
  [
    "OpenAI and Azure",
    refuse(400, "", {
      body: {
        error: {
          message: "Invalid schema for function 'srv__badtype': 'any' is not valid under any of the given schemas.",
          type: "invalid_request_error",
          param: "tools[9].function.parameters",
          code: "invalid_function_parameters",
        },
      },
    }),
  ],
  [
    "a name that is not allowed",
    refuse(400, "Invalid 'tools[9].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."),
  ],
  [
    "Anthropic",
    refuse(
      400,
      "tools.9.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 " +
        "(https://json-schema.org).",
    ),
  ],
  [
    "Google",
    refuse(400, "", {
      body: [
        {
          error: {
            code: 400,
            message:
              "* GenerateContentRequest.tools[0].function_declarations[9].parameters.properties[x].type: " +
              "must be one of the known types\n",
            status: "INVALID_ARGUMENT",
          },
        },
      ],
    }),
  ],
  [
    "Google, with a field that it does not know",
    refuse(
      400,
      `Invalid JSON payload received. Unknown name "exclusiveMinimum" at ` +
        "'tools[0].function_declarations[9].parameters': Cannot find field.",
    ),
  ],
  [
    "vLLM and Mistral",
    refuse(422, "", {
      body: {
        detail: [
          {
            type: "enum",
            loc: ["body", "tools", 9, "function", "parameters"],
            msg: "Input should be a valid type",
            input: "any",
          },
        ],
      },
    }),
  ],
  [
    "vLLM, in one text",
    refuse(
      400,
      "[{'type': 'enum', 'loc': ('body', 'tools', 9, 'function', 'parameters'), 'msg': 'Input should be valid'}]",
    ),
  ],
  [
    "Groq",
    refuse(
      400,
      "invalid JSON schema for tool srv__badtype, tools[9].function.parameters: `/properties/x/type`: value " +
        "must be one of the types",
    ),
  ],
  ["LM Studio", refuse(400, "Invalid 'tools.9.function.parameters': expected a type")],
  ["a server that says it in the stream", inStream("Invalid schema for function 'srv__badtype': 'any' is not a type")],
];

describe("a server that names the rejected tool is asked without it, now and in later turns:", () => {
  test.each(named)("%s", async (_, answer) => {
    server.script(answer, say("Here."));
    const { engine } = openEngine();
    const turn = () => turnOf("hi", { providers, tools: fifteen });
    const first = await collect(engine.run(turn(), never));
    expect(first.text).toBe("Here.");
    expect(refusedIn(first.events)).toEqual(["srv__badtype"]);
    expect(offered(1)).toEqual(fifteen.map(({ name }) => name).filter((name) => name !== "srv__badtype"));
    const second = await collect(engine.run(turn(), never));
    expect({ text: second.text, refused: refusedIn(second.events), requests: server.requests.length }).toEqual({
      text: "hi",
      refused: ["srv__badtype"],
      requests: 3,
    });
    // With another definition it is another tool.
    const mended = fifteen.map((one) => (one.name === "srv__badtype" ? tool("srv__badtype") : one));
    expect(refusedIn((await collect(engine.run({ ...turn(), tools: mended }, never))).events)).toEqual([]);
    expect(offered(3)).toContain("srv__badtype");
  });
});

/** Answers as a server that refuses these types and does not say where. */
function refusing(words: string, isBad: (parameters: string) => boolean): Answer {
  return async (exchange) => {
    const tools =
      (exchange.body as { readonly tools?: readonly { readonly function: { readonly parameters: unknown } }[] })
        .tools ?? [];
    const answer = tools.some((one) => isBad(JSON.stringify(one.function.parameters)))
      ? refuse(400, words)
      : say("Here.");
    await answer(exchange);
  };
}

describe("a server that reports only a faulty schema", () => {
  const words = 'JSON schema conversion failed:\nUnrecognized schema: {"type":"any"}';

  test.each([
    ["llama.cpp", words],
    [
      "Ollama",
      "json: cannot unmarshal array into Go struct field ChatRequest.tools.function.parameters.properties.type of " +
        "type string",
    ],
    ["a server that names the field", "messages or function.parameters could not be read"],
  ])("is asked with fewer tools until the faulty one is found, in few requests: %s", async (_, words) => {
    server.script(...Array.from({ length: 20 }, () => refusing(words, (text) => text.includes("any"))));
    const { engine } = openEngine();
    const { text, events } = await collect(engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect({ text, refused: refusedIn(events) }).toEqual({ text: "Here.", refused: ["srv__badtype"] });
    expect(server.requests.length).toBeLessThanOrEqual(10);
    // The person's words are in the first request and in the last one only.
    for (const { body } of server.requests.slice(1, -1))
      expect(body.messages).toEqual([{ role: "user", content: "Say OK." }]);
  });

  test("finds both of two faulty tools", async () => {
    server.script(...Array.from({ length: 40 }, () => refusing(words, (text) => text.includes("any"))));
    const tools = fifteen.map((one, index) => (index === 2 ? tool("srv__other", "any") : one));
    const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers, tools }), never));
    expect({ text, refused: refusedIn(events).sort() }).toEqual({
      text: "Here.",
      refused: ["srv__badtype", "srv__other"],
    });
  });

  test("is asked without all faulty tools, even if it is every one, in a bounded number of requests", async () => {
    server.script(...Array.from({ length: 80 }, () => refusing(words, () => true)));
    const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect(text).toBe("Here.");
    expect(refusedIn(events)).toHaveLength(15);
    expect(server.requests.length).toBeLessThanOrEqual(20);
  });
});

describe("refusals unrelated to the person's words", () => {
  test("about too many tools reduce them to the number that the server allows", async () => {
    server.script(
      refuse(
        400,
        "Invalid 'tools': array too long. Expected an array with maximum length 10, but got an array with " +
          "length 15 instead.",
      ),
    );
    const { text, events } = await collect(openEngine().engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect(text).toBe("hi");
    expect(offered(1)).toHaveLength(10);
    expect(refusedIn(events)).toHaveLength(5);
  });

  test.each([
    "registry.ollama.ai/library/gemma:2b does not support tools",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "tools param requires --jinja flag",
    "Tool calling is not supported with this model",
  ])("about any tools lead to a retry without tools: %s", async (words) => {
    server.script(refuse(400, words));
    const { engine } = openEngine();
    const { text } = await collect(engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect({ text, tools: offered(1) }).toEqual({ text: "hi", tools: [] });
    await collect(engine.run(turnOf("again", { providers, tools: fifteen }), never));
    expect(server.requests).toHaveLength(3);
  });

  test("about any tools lead to another model that supports them", async () => {
    const other = await createOpenAiServer({ answer: () => say("With tools.") });
    try {
      providers.spare = { api: "openai-compatible", baseUrl: other.url };
      server.script(refuse(404, "No endpoints found that support tool use."));
      const { engine } = openEngine();
      const turn = () => turnOf("hi", { providers, tools: fifteen, fallbacks: ["spare/big"] });
      expect((await collect(engine.run(turn(), never))).text).toBe("With tools.");
      expect((await collect(engine.run(turn(), never))).text).toBe("With tools.");
      expect(server.requests).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  test.each([
    ["stream_options", "Unknown parameter: 'stream_options'."],
    ["tool_choice", "body.tool_choice: Extra inputs are not permitted"],
  ])("about an unknown field, %s, lead to a retry without it", async (field, words) => {
    server.script(refuse(400, words));
    const { engine } = openEngine();
    expect((await collect(engine.run(turnOf("hi", { providers, tools: fifteen }), never))).text).toBe("hi");
    expect(server.requests.map(({ body }) => field in body)).toEqual([true, false]);
    expect(offered(1)).toHaveLength(15);
  });

  test("that blame a faultless tool leave it available", async () => {
    const words = "Invalid arguments in a message for function 'srv__tool3'";
    server.script(refuse(400, words), refuse(400, words));
    const { engine } = openEngine();
    const { error } = await collect(engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect(error).toMatchObject({ reason: "model_refused" });
    await collect(engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect(offered(2)).toContain("srv__tool3");
  });

  test("are remembered after a broken connection, so the tool is not offered again", async () => {
    const text = `one ${"two ".repeat(80)}`;
    server.script(refuse(400, "Invalid schema for function 'srv__badtype'"), cut(text), say("Here."));
    const { events, text: said } = await collect(
      openEngine().engine.run(turnOf("hi", { providers, tools: fifteen }), never),
    );
    expect({ said, refused: refusedIn(events) }).toEqual({ said: "Here.", refused: ["srv__badtype"] });
    expect(offered(2)).not.toContain("srv__badtype");
  });

  test.each([
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    "Output blocked by content filtering policy",
  ])("do not include those about content, which have their own code: %s", async (words) => {
    server.script(refuse(400, words));
    const { error } = await collect(openEngine().engine.run(turnOf("hi", { providers, tools: fifteen }), never));
    expect(error).toMatchObject({ reason: "model_content_refused" });
  });
});
