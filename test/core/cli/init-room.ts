/** What the tests of `init` share: a platform with one bot, a model server, and a home without anything. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { botToken, openPlatform } from "../../e2e/room.ts";
import { say } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { temporaryHome } from "./command.ts";

export { botToken };
export const modelKey = "sk-key-of-the-model-server-0123456789";
export const answer = "Hello from the model.";

export async function openInitRoom() {
  const platform = await openPlatform();
  const server = await createOpenAiServer({ answer: () => say(answer) });
  onTestFinished(() => server.close());
  const home = temporaryHome();
  const at = (name: string) => join(home, name);
  const file = at(".service/config.jsonc");
  writeFileSync(at("token"), `${botToken}\n`);
  writeFileSync(at("key"), `${modelKey}\n`);
  return {
    ...{ platform, server, home, at, file },
    text: () => readFileSync(file, "utf8"),
    write(text: string) {
      mkdirSync(at(".service"), { recursive: true });
      writeFileSync(file, text);
    },
    /** The stand-ins, for commands without a file that names them. */
    standIns: [
      ...["--platform-address", platform.url],
      ...["--model", "local/small", "--model-address", server.url],
    ] as readonly string[],
  };
}
