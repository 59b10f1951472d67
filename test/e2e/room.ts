/**
 * What the end-to-end tests share: an emulated platform, a configuration in a home of its own, and what was answered.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPlatform, type Platform } from "../../plugins/playground/platform/index.ts";
import { bundled, type Started, start, temporaryHome } from "../core/cli/command.ts";
import { type GatewayProcess, startGateway } from "../core/cli/gateway-runner.ts";
import { expect, onTestFinished } from "../support/own-test.ts";

export const botToken = "4242:e2e-bot-token-AbCdEf";
export const hookToken = "e2e-hook-token-0123456789";

/**
 * With `ISOLATION=worker` in the environment, these tests run the channel in a worker, where a test does not set
 * `plugins` itself.
 */
export const isIsolated = process.env.ISOLATION === "worker";

/** For many messages in one chat: a platform of one's own. */
const noLimits = { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 };

/** Anybody may write, answers come at once, failures of the network are tried again soon. */
export function openChannel(platform: Platform, more: object = {}): object {
  return {
    botToken,
    apiRoot: platform.url,
    dmPolicy: "open",
    allowFrom: ["*"],
    ackReaction: "",
    polling: { timeoutSeconds: 1, minDelayMs: 100, maxDelayMs: 300 },
    retry: { maxDelayMs: 1_000 },
    limits: noLimits,
    ...more,
  };
}

export async function openPlatform({ privacy = true } = {}): Promise<Platform> {
  const platform = await createPlatform({ bots: [{ token: botToken, username: "e2e_bot", name: "E2E", privacy }] });
  onTestFinished(() => platform.close());
  return platform;
}

/** As an editor writes: another file takes the place. */
export function writeConfig(file: string, config: object | string): void {
  const text = typeof config === "string" ? config : JSON.stringify(config, null, 2);
  writeFileSync(`${file}.edited`, text);
  renameSync(`${file}.edited`, file);
}

export function configure(home: string, config: object): string {
  const file = join(home, "config.jsonc");
  writeConfig(file, withBasics(config));
  return file;
}

export function withBasics(config: object): object {
  return {
    gateway: { port: 0, drainSeconds: 5 },
    state: { dir: "state" },
    plugins: {
      entries: { echo: { options: { delayMs: 0 } }, ...(isIsolated && { botchat: { isolation: "worker" } }) },
    },
    ...config,
  };
}

export interface Running extends Started<GatewayProcess> {
  readonly home: string;
  readonly file: string;
  readonly state: string;
  readonly url: string;
}

interface ProcessOptions {
  /** In a process that no other has used, for tests of the process itself. */
  readonly alone?: boolean | undefined;
  /** Flags of Node, in a process that no other has used. */
  readonly nodeArgs?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** A gateway that is up. */
export async function startGatewayProcess(
  config: object,
  { home = temporaryHome(), ...options }: ProcessOptions & { readonly home?: string } = {},
): Promise<Running> {
  const file = configure(home, config);
  return await restart({ home, file, ...options });
}

export async function restart({
  home,
  file,
  env = {},
  nodeArgs,
  alone = nodeArgs !== undefined,
}: ProcessOptions & { readonly home: string; readonly file: string }): Promise<Running> {
  const node = nodeArgs === undefined ? {} : { nodeArgs, main: bundled };
  const gateway = (alone ? start : startGateway)(["gateway", "--config", file], { home, env, ...node });
  const url = /ready at (http:\S+)/.exec(await gateway.until(/ready at http:\S+ /))?.[1] ?? "";
  return { ...gateway, home, file, state: join(home, "state"), url };
}

export async function stop(gateway: Started<GatewayProcess>): Promise<void> {
  gateway.child.kill("SIGTERM");
  expect((await gateway.finished).code).toBe(0);
}

export async function kill(gateway: Started<GatewayProcess>): Promise<void> {
  gateway.child.kill("SIGKILL");
  await gateway.finished;
}

export function postHook(url: string, name: string, body: object, token = hookToken): Promise<Response> {
  return fetch(`${url}/hooks/${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export const people = (platform: Platform): readonly number[] => [...platform.world.people.keys()];

/** Texts of the bot in a chat, as they stand now. */
export function answers(platform: Platform, chat: number): readonly string[] {
  const room = [...platform.world.rooms.values()].find((one) => one.chat.id === chat);
  return [...(room?.messages.values() ?? [])].filter(({ from }) => from?.is_bot === true).map(({ text }) => text ?? "");
}

export async function answered(
  platform: Platform,
  chat: number,
  text: string | RegExp,
  timeout = 15_000,
): Promise<void> {
  const seen = expect.poll(() => answers(platform, chat).join("\n---\n"), { timeout, interval: 30 });
  await (typeof text === "string" ? seen.toContain(text) : seen.toMatch(text));
}

/** The log said so often that an edit of the file is in force. */
export const takenOver = (times: number): RegExp =>
  new RegExp(`(?:[\\s\\S]*?the configuration was reloaded){${times}}`);
