/** A gateway with the plugin, whose agent calls the tools that its messages name. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineTurn, Json } from "service-gateway/sdk";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { onTestFinished } from "vitest";
import { isAlive } from "../../../core/cli/running-gateway.ts";
import { realWait } from "../../../core/testkit/host/played-clock.ts";
import mcp from "../../../plugins/mcp/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const fakeServer = join(import.meta.dirname, "fake-server.ts");

/** The settings of the fake server as a program. No owner is asked before its tools. */
export const program = (args: readonly string[] = [], more: object = {}): object => ({
  command: process.execPath,
  args: [fakeServer, ...args],
  approve: "never",
  ...more,
});

export interface Room {
  readonly host: TestHost;
  /**
   * The owner writes; resolves with the answer. `names` and `instructions` show what the model reads; anything else
   * calls a tool.
   */
  ask(text: string): Promise<string>;
  route(method: "GET" | "POST", path: string, body?: object): Promise<Json>;
}

async function answer({ inbound, tools, instructions }: EngineTurn, signal: AbortSignal): Promise<string> {
  if (inbound.text === "names") return tools.map(({ name }) => name).join(" ");
  if (inbound.text === "instructions") return instructions;
  const [name = "", args = "{}"] = inbound.text.split(/ (.*)/s);
  const tool = tools.find((one) => one.name === name);
  return tool === undefined ? `no tool ${name}` : JSON.stringify(await tool.run(JSON.parse(args) as Json, signal));
}

export async function openRoom(mcpServers: object, options: TestHostOptions = {}): Promise<Room> {
  const config = { agents: { defaults: { mcpServers: { ...mcpServers } } }, ...options.config };
  const host = await createTestHost({ plugins: [mcp], answer, ...options, config });
  onTestFinished(() => host.close());
  return {
    host,
    async ask(text) {
      await host.say(text, { from: "owner" });
      return host.outbox().at(-1)?.text ?? "";
    },
    async route(method, path, body) {
      const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
      const response = await fetch(`${host.url}/plugins/mcp/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Json;
    },
  };
}

const wrapper =
  /^The text between the two markers[^\n]*\n<<<external-content ([0-9a-f]{32})>>>\nSource: [^\n]*\n---\n(.*)\n<<<end-external-content \1>>>$/s;

/** What is between the markers. Throws where a text is not wrapped. */
function unwrapped(text: string): string {
  const [, , inside] = wrapper.exec(text) ?? [];
  if (inside === undefined) throw new Error(`it is not wrapped: ${text}`);
  return inside;
}

/** The text of a result, from between the markers. */
export const textOf = (result: string): string => unwrapped(JSON.parse(result) as string);

/** A failed call, with its error from between the markers. */
export function failureOf(result: string): Readonly<Record<string, unknown>> {
  const { error, ...rest } = JSON.parse(result) as { readonly error: string };
  return { ...rest, error: unwrapped(error) };
}

/** A file in which a fake server notes what it did. */
export function notes(): {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  read(): readonly string[];
} {
  const file = join(temporaryDirectory(), "notes");
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);
  return { file, env: { FAKE_NOTES: file }, read };
}

/** Whether the process runs. One whose parent has not taken note of its end yet does not. */
export function runs(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return isAlive(pid) && !(existsSync(file) && / Z /.test(readFileSync(file, "utf8")));
}

export async function until<T>(look: () => T | Promise<T>, isWanted: (found: T) => boolean = Boolean): Promise<T> {
  for (const began = performance.now(); ; ) {
    const found = await look();
    if (isWanted(found)) return found;
    if (performance.now() - began > 10_000) throw new Error(`it did not happen; last: ${JSON.stringify(found)}`);
    await realWait(2);
  }
}
