/** A program that runs two gateways and closes them: `embedder.ts PLATFORM TOKEN_1 TOKEN_2`. It must end by itself. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, type Gateway } from "../../core/gateway/gateway.ts";

const [, , apiRoot, ...tokens] = process.argv;
const directories: string[] = [];

async function open(botToken: string): Promise<Gateway> {
  const home = mkdtempSync(join(tmpdir(), "embedder-"));
  directories.push(home);
  const configFile = join(home, "config.jsonc");
  const botchat = { botToken, apiRoot, dmPolicy: "open", allowFrom: ["*"] };
  writeFileSync(
    configFile,
    JSON.stringify({
      gateway: { port: 0 },
      state: { dir: "state" },
      hooks: { enabled: true, token: `hook-token-of-${botToken.split(":")[0]}` },
      plugins: { entries: { playground: { enabled: true, options: { port: 0 } } } },
      channels: { botchat },
    }),
  );
  return await createGateway({ configFile, environment: {}, home });
}

const gateways = await Promise.all(tokens.map(open));
for (const gateway of gateways) {
  const { accounts } = await gateway.describe();
  while (
    accounts.length > 0 &&
    !(await gateway.describe()).accounts.every(({ status }) => status.state === "connected")
  ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
for (const gateway of gateways) await gateway.close();
for (const directory of directories) rmSync(directory, { recursive: true, force: true });
// The system closes the log's file in its own time.
const left = () => process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap");
for (const end = Date.now() + 10_000; left().some((name) => name !== "Timeout") && Date.now() < end; ) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
process.stdout.write(`closed ${JSON.stringify(left())}\n`);
