import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Json, PluginHost } from "service-gateway/sdk";
import { expect, test } from "vitest";
import playground from "../../../plugins/playground/index.ts";
import { callBot } from "./client.ts";

const token = "42:playground-token";

test("the process prints one line with its address and exits on SIGTERM", async () => {
  const child = spawn(process.execPath, [
    "--conditions=service-gateway-source",
    "plugins/playground/serve.ts",
    "--port",
    "0",
    "--token",
    token,
    "--username",
    "some_bot",
  ]);
  let line = "";
  for await (const chunk of child.stdout) {
    line += chunk;
    if (line.includes("\n")) break;
  }
  const url = /^playground: (http:\/\/127\.0\.0\.1:[0-9]+)\n$/.exec(line)?.[1] ?? "";
  expect((await callBot(url, token, "getMe", {})).result).toMatchObject({ id: 42, username: "some_bot" });
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("a port in use is reported in one sentence with exit code 1", async () => {
  const first = spawn(process.execPath, [
    "--conditions=service-gateway-source",
    "plugins/playground/serve.ts",
    "--port",
    "0",
  ]);
  const [chunk] = await once(first.stdout, "data");
  const port = /:([0-9]+)\n/.exec(String(chunk))?.[1] ?? "";
  const second = spawn(process.execPath, [
    "--conditions=service-gateway-source",
    "plugins/playground/serve.ts",
    "--port",
    port,
  ]);
  let said = "";
  second.stderr.on("data", (part) => {
    said += part;
  });
  expect(await once(second, "close")).toEqual([1, null]);
  expect(said).toMatch(/^playground: port [0-9]+ on 127\.0\.0\.1 is in use; choose another one.*\n$/);
  first.kill();
  await once(first, "exit");
});

/** What the plugin remembers, over restarts. */
function memory(): Pick<PluginHost["store"], "get" | "set"> {
  const values = new Map<string, Json>();
  return { get: async (key) => values.get(key) ?? null, set: async (key, value) => void values.set(key, value) };
}

test("the plugin listens once setup is done and stops on close", async () => {
  const closers: (() => void | Promise<void>)[] = [];
  const lines: object[] = [];
  const host = {
    store: memory(),
    now: () => 1_800_000_000_000,
    log: { info: (fields: object) => lines.push(fields) },
    onClose: (fn: () => void | Promise<void>) => closers.push(fn),
  } as unknown as PluginHost;
  await playground.setup(host, { port: 0, token, username: "playground_bot", name: "Playground bot" });
  const { url } = lines[0] as { url: string };
  expect((await callBot(url, token, "getMe", {})).result.username).toBe("playground_bot");
  expect(JSON.stringify(lines)).not.toContain(token);
  for (const close of closers) await close();
  await expect(callBot(url, token, "getMe", {})).rejects.toThrow();
});

test("update ids never repeat those of an earlier run, which the gateway would skip as processed", async () => {
  const ids: number[] = [];
  const store = memory();
  for (const now of [1_800_000_000_000, 1_800_000_001_000]) {
    let url = "";
    let close: () => void | Promise<void> = () => {};
    const host = {
      store,
      now: () => now,
      log: { info: (fields: { readonly url: string }) => (url = fields.url) },
      onClose: (fn: typeof close) => (close = fn),
    } as unknown as PluginHost;
    await playground.setup(host, { port: 0, token, username: "playground_bot", name: "Playground bot" });
    for (const text of ["One", "Two"]) {
      const body = JSON.stringify({ do: "say", person: 1001, text });
      await fetch(`${url}/_playground/act`, { method: "POST", headers: { "content-type": "application/json" }, body });
    }
    const { result } = await callBot(url, token, "getUpdates", {});
    ids.push(...(result as readonly { readonly update_id: number }[]).map(({ update_id }) => update_id));
    await close();
  }
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(4);
});
