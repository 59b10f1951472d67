/** Gateways in processes of their own, with a model that counts tokens itself, for tests of long conversations. */
import { run } from "../core/cli/command-runner.ts";
import { type CountingOptions, createCountingServer, isSummaryRequest } from "../openai-server/counting.ts";
import { onTestFinished } from "../support/own-test.ts";
import { openChannel, openPlatform, people } from "./room.ts";

export interface Shown {
  readonly summaries: readonly { readonly id: number; readonly text: string; readonly messages: number }[];
  readonly transcript: readonly { readonly id: number; readonly role: string; readonly content: string }[];
}

/** `stated`: whether the configuration contains the size of the context. */
export async function openCompactionPlace({
  stated = true,
  agent = {},
  config: more = {},
  ...options
}: CountingOptions & { readonly stated?: boolean; readonly agent?: object; readonly config?: object }) {
  const [platform, model] = await Promise.all([openPlatform(), createCountingServer(options)]);
  onTestFinished(() => model.close());
  const [ada = 0] = people(platform);
  const models = stated ? { models: { small: { contextTokens: options.room } } } : {};
  const config = {
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url, ...models } } },
    agents: { defaults: { model: "local/small", tools: { allow: [] }, heartbeat: { every: "0" }, ...agent } },
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
    ...more,
  };
  const asked = () => model.requests.filter(({ body }) => isSummaryRequest(body)).length;
  const shown = async ({ file, home }: { readonly file: string; readonly home: string }): Promise<Shown> =>
    JSON.parse((await run(["sessions", "show", "last", "--json", "--limit", "0", "--config", file], { home })).out);
  return { platform, model, ada, config, asked, shown };
}
