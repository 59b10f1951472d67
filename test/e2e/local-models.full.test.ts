/** Servers of models on this machine, at the ports that their programs use by default: none, one or two of them run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run, temporaryHome } from "../core/cli/command.ts";
import { say } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";

/** The ports of this machine may be in use, so requests to them go to servers of the test. */
const preload = (standIns: Readonly<Record<string, string>>) =>
  `data:text/javascript,${encodeURIComponent(`
  const standIns = ${JSON.stringify(standIns)};
  const real = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = new URL(input);
    return real(new URL(url.pathname, standIns[url.port] ?? url.origin), init);
  };
`)}`;

async function closedUrl(): Promise<string> {
  const server = await createOpenAiServer();
  await server.close();
  return server.url;
}

const ports = { ollama: "11434", lmstudio: "1234", llamacpp: "8080", vllm: "8000" } as const;
type Local = keyof typeof ports;

test.each<[string, readonly Local[]]>([
  ["none", []],
  ["one", ["ollama"]],
  ["two", ["llamacpp", "vllm"]],
])(
  "%s of them: models list and models test say which, and what to do about the others",
  async (_, running) => {
    const closed = await closedUrl();
    const standIns: Record<string, string> = {};
    for (const [id, port] of Object.entries(ports)) {
      if (!running.includes(id as Local)) standIns[port] = closed;
      else {
        const server = await createOpenAiServer({ answer: () => say(`I am ${id}.`) });
        onTestFinished(() => server.close());
        standIns[port] = server.url;
      }
    }
    const home = temporaryHome();
    mkdirSync(join(home, ".service"));
    const [primary = "", ...fallbacks] = Object.keys(ports).map((id) => `${id}/small`);
    const config = {
      agents: { defaults: { model: { primary, fallbacks } } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
    };
    writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config));
    const command = async (...args: readonly string[]) =>
      await run(args, { home, nodeArgs: ["--import", preload(standIns)] });
    const { out, code } = await command("models", "list", "--json");
    expect(code).toBe(1);
    for (const { provider, address, key, problem } of JSON.parse(out).models) {
      expect({ address, key }).toEqual({
        address: `http://127.0.0.1:${ports[provider as Local]}/v1`,
        key: "not needed",
      });
      const missing = `${address} is not reachable: no program listens there.`;
      expect(problem).toBe(running.includes(provider) ? undefined : missing);
    }
    for (const id of Object.keys(ports)) {
      const tested = await command("models", "test", `${id}/small`);
      const isThere = running.includes(id as Local);
      expect(tested.code).toBe(isThere ? 0 : 1);
      expect(tested.out).toContain(
        isThere ? `✓ ${id}/small (main): the first word after` : `correct models.providers.${id}.baseUrl.`,
      );
    }
  },
  60_000,
);
