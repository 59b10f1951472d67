/** Starts the parts of a test host: a gateway with its own configuration, its channel, and a view of its state. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Problem } from "../../config/index.ts";
import { createGateway, type Gateway } from "../../gateway/index.ts";
import { defineEngine, type PluginDefinition } from "../../sdk/contract.ts";
import { type Endings, openEndings } from "./endings.ts";
import { isUnexpected } from "./faults.ts";
import { createTestChannel, loopbackId, type TestChannel } from "./loopback.ts";
import type { TestHostOptions } from "./options.ts";
import type { PlayedClock } from "./played-clock.ts";
import { testSettings } from "./settings.ts";

const engineId = "test-engine";

/** Replies if no plugin under test does; engines are tried in the order of their registration. */
export function testEngine(answer: NonNullable<TestHostOptions["answer"]>, id = engineId): PluginDefinition {
  return defineEngine({
    id,
    version: "1.0.0",
    host: "*",
    async *run(turn, signal) {
      const given = answer(turn, signal);
      if (typeof given === "object" && Symbol.asyncIterator in given) return yield* given;
      yield { type: "text", delta: await given };
      yield { type: "done" };
    },
  });
}

/** What runs once a test host is up. */
export interface Started {
  readonly directory: string;
  readonly configFile: string;
  readonly gateway: Gateway;
  readonly endings: Endings;
}

/** What stays the same over the restarts of a test host. */
export interface Lasting {
  readonly clock: PlayedClock;
  readonly channel: TestChannel;
  /** The configuration, with what the test has changed. */
  settings: ReturnType<typeof testSettings>;
  readonly options: TestHostOptions;
}

export function prepareParts(clock: PlayedClock, options: TestHostOptions): Lasting {
  const { plugins = [], config = {} } = options;
  assertFree(plugins);
  return { clock, options, channel: createTestChannel(), settings: testSettings(config) };
}

/** Starts a gateway in a directory, on the state that is there; on an error nothing is left running. */
export async function startParts(directory: string, lasting: Lasting): Promise<Started> {
  const { clock, channel, settings, options } = lasting;
  const { plugins = [], answer = (turn) => `heard: ${turn.inbound.text}`, environment = {} } = options;
  const configFile = join(directory, "config.jsonc");
  await writeSettings(configFile, settings);
  const gateway = await createGateway({
    ...{ configFile, environment, home: directory, bundled: false, writerThread: false },
    plugins: [channel.plugin, ...plugins, testEngine(answer)],
    now: clock.now,
    elapsed: clock.elapsed,
  });
  try {
    await assertUp(gateway, options.allowErrors ?? []);
    const endings = await openEndings({ stateDirectory: gateway.stateDirectory, now: clock.now });
    return { directory, configFile, gateway, endings };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** The errors of a configuration, a sentence each. */
export function errorsIn(problems: readonly Problem[]): readonly string[] {
  return problems
    .filter(({ severity }) => severity === "error")
    .map(({ path, message, hint }) => `${path}: ${message}. ${hint ?? ""}`.trim());
}

export async function writeSettings(configFile: string, settings: Lasting["settings"]): Promise<void> {
  await writeFile(configFile, JSON.stringify(settings));
}

/** The gateway would take only one of two plugins with the same id. */
function assertFree(plugins: readonly PluginDefinition[]): void {
  const taken = plugins.find(({ id }) => id === loopbackId || id === engineId);
  if (taken !== undefined)
    throw new Error(`The test host uses the id ${taken.id} itself. Give the plugin under test another id.`);
}

/** Fails early, because a missing plugin would fail the test later with a less helpful reason. */
async function assertUp(gateway: Gateway, allowed: readonly RegExp[]): Promise<void> {
  const { plugins, problems } = await gateway.describe();
  const reasons = [
    ...plugins.flatMap(({ id, state, reason }) => (state === "failed" ? [reason ?? `The plugin ${id} failed.`] : [])),
    ...errorsIn(problems),
  ].filter((reason) => isUnexpected(reason, allowed));
  if (reasons.length > 0)
    throw new Error(`The test host did not start:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`);
}
