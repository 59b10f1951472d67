/**
 * Skills of the workspace over the whole road: the model is told of them, reads one, and has none where the group says
 * so.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import ai from "../../plugins/ai/index.ts";
import botchat from "../../plugins/botchat/index.ts";
import { callTools, say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { kitchen } from "./conversation.ts";
import { answered, openChannel, openPlatform, people } from "./room.ts";

test("a model reads the skill that a message asks for; a group without skills offers none", async () => {
  const model = await createOpenAiServer();
  const platform = await openPlatform();
  const directory = temporaryDirectory();
  const folder = join(directory, "agent", "skills", "bread");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\nname: bread\ndescription: Bakes bread.\n---\nKnead for ten minutes.\n");
  const host = await createTestHost({
    directory,
    plugins: [botchat, ai],
    config: {
      agents: { defaults: { model: "local/small", workspace: "agent" } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
      channels: {
        botchat: openChannel(platform, { streamMode: "off", groupPolicy: "open", groups: { "*": { skills: [] } } }),
      },
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
    removeDirectory(directory);
  });
  const [ada = 0] = people(platform);
  const offered = (request: number) => model.requests[request]?.body.tools?.map((tool) => tool.function.name) ?? [];
  model.script(callTools([{ name: "read_skill", args: { name: "bread" } }]), say("Knead it."));
  platform.act.say(ada, ada, "how do I bake bread?");
  await answered(platform, ada, "Knead it.");
  expect(JSON.stringify(model.requests[0]?.body.messages)).toContain("- bread: Bakes bread.");
  expect(offered(0)).toContain("read_skill");
  expect(model.requests[1]?.body.messages.at(-1)).toMatchObject({
    role: "tool",
    content: expect.stringContaining("Knead for ten minutes."),
  });
  model.script(say("I do not know."));
  platform.act.say(ada, kitchen, "@e2e_bot how do I bake bread?");
  await answered(platform, kitchen, "I do not know.");
  expect(JSON.stringify(model.requests[2]?.body.messages)).not.toContain("Bakes bread");
  expect(offered(2)).not.toContain("read_skill");
});
