/**
 * Whole numbers keep their digits from the model to the server: in the question to the owner, on the wire, in what is
 * stored, and back.
 */
import { definePlugin, type EngineTurn, type Json, Type } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import ai from "../../../plugins/ai/index.ts";
import mcp from "../../../plugins/mcp/index.ts";
import { callTools, say } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { type RawServer, rawHttp, rawProgram } from "./raw-servers.ts";
import { until } from "./room.ts";

const args = '{"id":1794820000000000001,"more":[{"n":-98765432109876543210}],"small":5,"text":"1794820000000000001"}';
const pretty = `{
  "id": 1794820000000000001,
  "more": [
    {
      "n": -98765432109876543210
    }
  ],
  "small": 5,
  "text": "1794820000000000001"
}`;
const answer = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":{"deleted":1794820000000000001}}}';

const lab = definePlugin({
  id: "lab",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.tool({
      name: "lab_delete",
      description: "Deletes.",
      parameters: Type.Object({ id: Type.Optional(Type.Number()) }),
      run: ({ args: { id = 0 } }) => ({ deleted: id }),
    });
  },
});

async function open(server: RawServer, approve: string) {
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const host = await createTestHost({
    plugins: [ai, mcp, lab],
    config: {
      agents: {
        defaults: { engine: "ai", model: "local/small", mcpServers: { raw: { ...server.settings, approve } } },
      },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    },
  });
  onTestFinished(() => host.close());
  return { model, host };
}

test.each<[string, () => RawServer | Promise<RawServer>]>([
  ["a program", rawProgram],
  ["http", () => rawHttp()],
])("over %s, numbers keep all digits in the approval, the call, the result and the history", async (_, start) => {
  const server = await start();
  server.answer(answer);
  const { model, host } = await open(server, "always");
  model.script(callTools([{ name: "raw__say", args }]), say("Done."), say("Yes."));
  const turn = host.say("delete it", { from: "owner" });
  const question = await until(() => host.outbox().find(({ text }) => text.includes("asks to use"))?.text ?? "");
  expect(question).toContain(pretty);
  await host.say(`/approve ${/approve (\w+)/.exec(question)?.[1]}`, { from: "owner" });
  await turn;
  expect(server.calls()).toHaveLength(1);
  expect(server.calls()[0]).toContain(`"arguments":${args}`);
  // What became of the question still names the record that was meant.
  const ended = host.outbox().findLast(({ text }) => text.includes("asked to use"));
  if (ended !== undefined) expect(ended.text).toContain(pretty);

  const [, second] = model.requests.map(({ body }) => body.messages);
  const called = second?.find(({ role }) => role === "assistant") as unknown as {
    tool_calls: { function: { arguments: string } }[];
  };
  expect(called.tool_calls[0]?.function.arguments).toBe(args);
  expect(String(second?.at(-1)?.content)).toContain('{"deleted":1794820000000000001}');
  await host.say("and?", { from: "owner" });
  const history = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(history).toContain('[used raw__say {\\"id\\":1794820000000000001,\\"more');
  expect(history).toContain('{\\"deleted\\":1794820000000000001}');
});

test("a numeric argument reaches a tool only as the model wrote it", async () => {
  const { model, host } = await open(rawProgram(), "never");
  const called = async (written: string) => {
    model.script(callTools([{ name: "lab_delete", args: written }]), say("Done."));
    await host.say("delete it", { from: "owner" });
    return JSON.parse(String(model.requests.at(-1)?.body.messages.at(-1)?.content)) as unknown;
  };
  expect(await called('{"id":1794820000000000001}')).toEqual({
    ok: false,
    code: "invalid_arguments",
    error:
      "id is a number with more digits than this tool takes exactly. Pass it as a text if the parameters allow that.",
    outcome: "The call was refused before it ran. Nothing happened.",
  });
  expect(await called('{"id":1e400}')).toMatchObject({ code: "invalid_arguments" });
  expect(await called('{"id":9007199254740991}')).toEqual({ deleted: 9007199254740991 });
  expect(await called('{"id":1.5e3}')).toEqual({ deleted: 1500 });
});

test("an engine without the model's original text cannot pass a number that may have lost digits", async () => {
  const server = rawProgram();
  server.answer(answer);
  async function callSay({ inbound, tools }: EngineTurn, signal: AbortSignal): Promise<string> {
    const tool = tools.find(({ name }) => name === "raw__say");
    const given = JSON.parse(inbound.text) as Json;
    return JSON.stringify([await tool?.run(given, signal), await tool?.run(given, signal, inbound.text)]);
  }
  const host = await createTestHost({
    plugins: [mcp],
    answer: callSay,
    config: { agents: { defaults: { mcpServers: { raw: { ...server.settings, approve: "never" } } } } },
  });
  onTestFinished(() => host.close());
  await host.say(args, { from: "owner" });
  const [without, exact] = JSON.parse(host.outbox().at(-1)?.text ?? "") as { code?: string }[];
  expect(without).toMatchObject({ code: "invalid_arguments" });
  expect(exact).toContain('{"deleted":1794820000000000001}');
  expect(server.calls()).toHaveLength(1);
});
