/**
 * Runs only the emulated platform, as a process: `node --conditions=service-gateway-source plugins/playground/serve.ts
 * --port 18790`.
 *
 * Prints one line with the URL when it is listening. Ends on SIGINT and SIGTERM.
 */
import { parseArgs } from "node:util";
import { createPlatform, firstUpdateIdAt } from "./platform/index.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "18790" },
    token: { type: "string", default: "7000000001:playground" },
    username: { type: "string", default: "playground_bot" },
    name: { type: "string", default: "Playground bot" },
    "no-calls": { type: "boolean", default: false },
  },
});

try {
  const platform = await createPlatform({
    port: Number(values.port),
    bots: [{ token: values.token, username: values.username, name: values.name, firstUpdateId: firstUpdateIdAt() }],
    recordCalls: !values["no-calls"],
  });
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => void platform.close());
  console.log(`playground: ${platform.url}`);
} catch (error) {
  console.error(`playground: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
