/** Tools of MCP servers as they arrive at a model server, through the engine for model servers. */
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import ai from "../../../plugins/ai/index.ts";
import mcp from "../../../plugins/mcp/index.ts";
import { callTools, say } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { pixel } from "./fake-server.ts";
import { program } from "./room.ts";

test("the request contains all hundred tools after the actions, and the model sees a picture in a result", async () => {
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const host = await createTestHost({
    plugins: [ai, mcp],
    config: {
      agents: { defaults: { engine: "ai", model: "local/small", mcpServers: { files: program(["many"]) } } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    },
  });
  onTestFinished(() => host.close());
  model.script(callTools([{ name: "files__get-image", args: {} }]), say("A red pixel."));
  const { eventId, outcome } = await host.say("What is in the picture?", { from: "owner" });
  expect(outcome).toBe("answered");
  expect(host.outbox().at(-1)?.text).toBe("A red pixel.");

  const [first, second] = model.requests;
  const names = first?.body.tools?.map((tool) => tool.function.name) ?? [];
  const many = Array.from({ length: 100 }, (_, index) => `tool-${index}`).sort();
  const own = ["echo", "get-env", "get-image", "structured", ...many, "wait"].map((name) => `files__${name}`);
  expect(names).toEqual(["send", "attach", "buttons", ...own]);
  expect(second?.body.tools).toEqual(first?.body.tools);
  const echo = first?.body.tools?.find((tool) => tool.function.name === "files__echo")?.function;
  expect(echo).toMatchObject({
    description: "Says it again.",
    parameters: { type: "object", properties: { message: { type: "string" } } },
  });
  expect(second?.body.messages.at(-1)).toMatchObject({
    role: "user",
    content: [{ type: "text" }, { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } }],
  });
  expect(await host.why(eventId)).toContainEqual(
    expect.objectContaining({ plugin: "mcp", code: "tool_done", detail: expect.stringContaining("files__get-image") }),
  );
});
