/** A gateway with a model that counts tokens itself, for tests of long conversations. */
import { createTestHost, type TestHostOptions } from "service-gateway/testkit";
import ai from "../../plugins/ai/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type CountingOptions, createCountingServer } from "../openai-server/counting.ts";
import { expect, onTestFinished } from "../support/own-test.ts";

export interface CompactionRoomOptions extends CountingOptions {
  /** As `models.providers.local.models`. */
  readonly models?: object;
  /** Settings of `agents.defaults`. */
  readonly agent?: object;
  readonly config?: object;
  readonly directory?: string;
  /** Beside the engine. */
  readonly plugins?: TestHostOptions["plugins"];
}

const sentence = "the quick brown fox jumps over the lazy dog and says that everything is fine today ";

/** Words of about so many characters. */
export const words = (characters: number): string => sentence.repeat(Math.ceil(characters / sentence.length));

export const room5k = { small: { contextTokens: 5_000 } };

export async function openCompactionRoom(options: CompactionRoomOptions) {
  const { models, agent, config, directory, plugins = [], ...ofServer } = options;
  const model = await createCountingServer(ofServer);
  const host = await createTestHost({
    plugins: [ai, ...plugins],
    ...(directory !== undefined && { directory }),
    config: {
      agents: { defaults: { model: "local/small", tools: { allow: [] }, ...agent } },
      models: { providers: { local: { api: "openai-compatible", baseUrl: model.url, models } } },
      plugins: { entries: { ai: { options: { retries: 0 } } } },
      ...config,
    },
  });
  onTestFinished(async () => {
    await host.close();
    await model.close();
  });
  const command = async (...args: readonly string[]) =>
    (await run([...args, "--config", host.configFile], { home: temporaryHome() })).out;
  const shown = async (...args: readonly string[]) =>
    JSON.parse(await command("sessions", "show", "last", "--json", ...args)) as {
      readonly summaries: readonly { readonly text: string; readonly messages: number }[];
      readonly transcript: readonly { readonly role: string; readonly content: string }[];
    };
  const say = async (text: string) => {
    const before = host.outbox().length;
    const end = await host.say(text);
    const texts = host.outbox().slice(before);
    return { end, text: texts.map((one) => one.text).join("\n") };
  };
  const asked = () => model.answered.filter(({ isSummary }) => isSummary).length;
  /** Resolves once as many summaries are stored. */
  const summarized = async (count: number) =>
    await expect.poll(async () => (await shown()).summaries.length, { timeout: 10_000 }).toBe(count);
  /** Says facts, from the first number on, until a summary is asked for. */
  const fill = async (from = 1) => {
    const before = asked();
    for (let n = from; n < from + 30; n += 1) {
      await say(`FACT-${n}=blue ${words(1_500)}`);
      if (asked() > before) return n;
    }
    throw new Error("no summary was asked for");
  };
  return { model, host, command, shown, say, asked, summarized, fill };
}
