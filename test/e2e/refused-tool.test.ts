/**
 * One tool of an MCP server that the model's server does not accept: it is left out and named, and every turn goes on.
 */
import { createTestHost } from "service-gateway/testkit";
import { aroundEach, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import mcp from "../../plugins/mcp/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type Answer, refuse, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { answered, answers, openChannel, openPlatform, people } from "./room.ts";

aroundEach(inOwnTest);

/** A program that speaks MCP and has fifteen tools, one with a type that no provider knows. */
const program = `
const tools = Array.from({ length: 15 }, (_, index) => {
  const bad = index === 7;
  const x = { type: bad ? "any" : "string" };
  return { name: bad ? "badtype" : "tool" + index, description: "Does it.", inputSchema: { type: "object", properties: { x } } };
});
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const initialized = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "srv", version: "1" } };
  const result = method === "initialize" ? initialized : method === "tools/list" ? { tools } : { content: [{ type: "text", text: "ok" }] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
`;

/** Judges each request as OpenAI does. */
const judged: Answer = async (exchange) => {
  const { tools = [] } = exchange.body as {
    readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  };
  const bad = tools.find((tool) => JSON.stringify(tool.function.parameters).includes('"any"'))?.function.name;
  const message = `Invalid schema for function '${bad}': 'any' is not valid under any of the given schemas.`;
  await (bad === undefined
    ? say("Here is the answer.")
    : refuse(400, message, { code: "invalid_function_parameters" }))(exchange);
};

async function open(answer: Answer) {
  const model = await createOpenAiServer({ answer: () => answer });
  const platform = await openPlatform();
  const host = await createTestHost({
    plugins: [botchat, ai, mcp],
    config: {
      agents: {
        defaults: {
          model: "fake/test-model",
          mcpServers: { srv: { command: process.execPath, args: ["-e", program], approve: "never" } },
        },
      },
      models: { providers: { fake: { api: "openai-compatible", baseUrl: model.url } } },
      channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
  });
  const [ada = 0] = people(platform);
  const command = async (...args: readonly string[]) =>
    (await run([...args, "--config", host.configFile], { home: temporaryHome() })).out;
  return { host, model, platform, ada, command };
}

test("the turn is answered without the refused tool; why, doctor, mcp list and mcp tools name it", async () => {
  const { model, platform, ada, command } = await open(judged);
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "Here is the answer.");
  expect(model.requests).toHaveLength(2);
  const offered = model.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
  expect(offered.filter((name) => name.startsWith("srv__"))).toHaveLength(14);
  platform.act.say(ada, ada, "and again");
  await expect.poll(() => answers(platform, ada)).toHaveLength(2);
  // What is known is not asked again.
  expect(model.requests).toHaveLength(3);
  const reason = "Invalid schema for function 'srv__badtype'";
  const flat = (text: string) => text.replace(/\s+/g, " ");
  expect(flat(await command("why", "last"))).toContain(
    `without the tools srv__badtype (fake at ${model.url} refused the request (400): ${reason}`,
  );
  const { findings } = JSON.parse(await command("doctor", "--json")) as {
    readonly findings: readonly { readonly check: string }[];
  };
  expect(findings.filter(({ check }) => check === "tools")).toMatchObject([
    {
      verdict: "warn",
      reason: expect.stringMatching(
        /^the server of fake\/test-model does not accept the tool srv__badtype \(mcp\).*Invalid schema/,
      ),
    },
  ]);
  expect(flat(await command("mcp", "list"))).toContain(
    "srv: srv__badtype is left out for fake/test-model, whose server does not accept it",
  );
  expect(flat(await command("mcp", "tools"))).toContain("srv__badtype refused by fake/test-model");
});

test("a sender whose turn is refused for another reason is not asked to reword the message", async () => {
  const { platform, ada } = await open(refuse(400, "Something is wrong with this request."));
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, "Your message need not be the reason");
  expect(answers(platform, ada).join("\n")).not.toContain("other words");
});
