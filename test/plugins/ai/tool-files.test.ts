/** Images in the results of tools, as a server of chat completions receives them. */
import type { EngineTool } from "service-gateway/sdk";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { callTools, refuse, say } from "../../openai-server/answers.ts";
import { createOpenAiServer, type OpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

let server: OpenAiServer;
beforeEach(async () => {
  server = await createOpenAiServer();
  onTestFinished(() => server.close());
});

const never = new AbortController().signal;
const providers = () => ({ local: { api: "openai-compatible" as const, baseUrl: server.url } });
const image = { mimeType: "image/png", data: "UE5H" };

const tool = (name: string, result: Awaited<ReturnType<EngineTool["run"]>>): EngineTool => ({
  name,
  description: `Shows ${name}.`,
  parameters: { type: "object", properties: {} },
  run: async () => result,
});

test("an image in a tool result follows the results as a user message and is never sent as text", async () => {
  server.script(callTools([{ name: "screen", args: {} }]), say("A red pixel."));
  const tools = [tool("screen", { text: "Taken.", media: [image, { mimeType: "application/zip", data: "WklQ" }] })];
  const { text } = await collect(openEngine().engine.run(turnOf("look", { providers: providers(), tools }), never));
  expect(text).toBe("A red pixel.");
  const messages = server.requests[1]?.body.messages ?? [];
  expect(messages.slice(-2)).toEqual([
    expect.objectContaining({
      role: "tool",
      content:
        "Taken.\n[a file of the type application/zip that you cannot see]\n[The file of this result follows " +
        "the results.]",
    }),
    {
      role: "user",
      content: [
        { type: "text", text: "[files from the result of the tool screen, not from the user]" },
        { type: "image_url", image_url: { url: "data:image/png;base64,UE5H" } },
      ],
    },
  ]);
  expect(JSON.stringify(messages).split("UE5H")).toHaveLength(2);
});

test("a model without image support is informed of the image that it cannot see", async () => {
  server.script(
    callTools([{ name: "screen", args: {} }]),
    refuse(400, "this model does not support image input"),
    say("I cannot see it."),
  );
  const tools = [tool("screen", { media: [image] })];
  const { text } = await collect(openEngine().engine.run(turnOf("look", { providers: providers(), tools }), never));
  expect(text).toBe("I cannot see it.");
  expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain(
    "[a file of the type image/png that you cannot see]",
  );
  expect(JSON.stringify(server.requests.at(-1)?.body.messages)).not.toContain("UE5H");
});

test("a hundred tools reach the model server in order", async () => {
  server.script(say("Many."));
  const names = Array.from({ length: 100 }, (_, index) => `files__tool-${99 - index}`);
  const tools = names.map((name) => tool(name, "done"));
  await collect(openEngine().engine.run(turnOf("hi", { providers: providers(), tools }), never));
  expect(server.requests[0]?.body.tools?.map((one) => one.function.name)).toEqual(names);
});
