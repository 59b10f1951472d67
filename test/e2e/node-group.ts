/** Gateways as nodes of one PostgreSQL: real processes, a real server, the platform and the model over real HTTP. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { type AtEnd, bundled, type Finished, type Started, start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type GatewayProcess, startGateway } from "../core/cli/gateway-runner.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { expect } from "../support/own-test.ts";
import type { PostgresServer } from "../support/postgres-server.ts";

const botToken = "4242:e2e-bot-token";
export const hookToken = "hooks-of-two-nodes-0123456789";

export interface Node {
  readonly name: string;
  readonly home: string;
  readonly file: string;
  readonly process: Started<GatewayProcess>;
  readonly url: () => string;
  /** Runs a command with the configuration of this node. */
  command(...args: readonly string[]): Promise<Finished>;
}

export interface NodeGroup {
  /** The address of the database. */
  readonly url: string;
  readonly platform: Platform;
  readonly model: OpenAiServer;
  /** The configuration that all nodes have, but for `gateway.node`. */
  readonly config: object;
  /** Starts a node that differs from the others in its name and state directory only. */
  node(
    name: string,
    options?: { readonly config?: object; readonly home?: string; readonly nodeArgs?: readonly string[] },
  ): Promise<Node>;
  /** Ends the lease of a node, as after the time of it. */
  endLease(name: string): Promise<void>;
  /** The number of units that have ended. */
  ended(): Promise<number>;
}

/** `more` changes sections of the configuration. */
export async function createNodeGroup(
  database: PostgresServer,
  atEnd: AtEnd,
  { channel = {}, ...more }: { readonly channel?: object; readonly [section: string]: object | undefined } = {},
): Promise<NodeGroup> {
  const url = database.newUrl();
  const platform = await createPlatform({
    bots: [{ token: botToken, username: "e2e_bot", name: "E2E", privacy: false }],
  });
  const model = await createOpenAiServer();
  atEnd(async () => {
    await platform.close();
    await model.close();
  });
  const env = { DATABASE_URL: url, HOOK_TOKEN: hookToken, BOT_TOKEN: botToken };
  const config = {
    state: { dir: "state", store: "postgres", url },
    hooks: { enabled: true, token: hookToken, exposeReplies: true },
    channels: {
      botchat: { botToken, apiRoot: platform.url, dmPolicy: "open", allowFrom: ["*"], ackReaction: "", ...channel },
    },
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: { defaults: { model: "local/test-model", heartbeat: { every: "0" } } },
    ...more,
  };
  return {
    url,
    platform,
    model,
    config,
    async node(
      name,
      { config: given = { ...config, gateway: { port: 0, node: name } }, home = temporaryHome(atEnd), nodeArgs } = {},
    ) {
      const file = join(home, "config.jsonc");
      writeFileSync(file, JSON.stringify(given));
      const options = { home, env, atEnd };
      const args = ["gateway", "--config", file];
      const process =
        nodeArgs === undefined ? startGateway(args, options) : start(args, { ...options, main: bundled, nodeArgs });
      await process.until(/is ready at/);
      const description = join(home, "state", "gateway.json");
      return {
        ...{ name, home, file, process },
        url: () => (JSON.parse(readFileSync(description, "utf8")) as { readonly url: string }).url,
        command: (...args) => run([...args, "--config", file], { home, env }),
      };
    },
    async ended() {
      const [row] = await database.query(url, "SELECT count(*)::int AS ended FROM $schema.units WHERE state = 2");
      return Number(row?.ended);
    },
    async endLease(name) {
      await database.query(url, `UPDATE $schema.nodes SET lease_until = clock_timestamp() WHERE node = '${name}'`);
    },
  };
}

/** Texts of the bot in a chat, as they are now. */
export function answers(platform: Platform, chat: number): readonly string[] {
  const room = [...platform.world.rooms.values()].find((known) => known.chat.id === chat);
  return [...(room?.messages.values() ?? [])].filter(({ from }) => from?.is_bot === true).map(({ text }) => text ?? "");
}

export const personOf = (platform: Platform, index = 0): number => [...platform.world.people.keys()][index] ?? 0;

/** Calls a webhook of a node; rejects if it does not listen. */
export async function postHook(
  node: Node,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return await fetch(`${node.url()}/hooks/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** The first node receives for the bot; the second one is ready. */
export async function startPair(group: NodeGroup): Promise<readonly [holder: Node, other: Node]> {
  const holder = await group.node("one");
  await holder.process.until(/channel connected/);
  return [holder, await group.node("two")];
}

/** Waits for an answer in a chat. */
export async function answered(platform: Platform, chat: number, text: string | RegExp): Promise<void> {
  const expected = typeof text === "string" ? text : expect.stringMatching(text);
  await expect.poll(() => answers(platform, chat)).toContainEqual(expected);
}
