/** Stand-ins for the known providers: each has the address of its provider, and is as strict as the maker. */
import { createTestHost } from "service-gateway/testkit";
import { knownProvider } from "../../core/config/known-providers.ts";
import { definePlugin, Type } from "../../core/sdk/index.ts";
import ai from "../../plugins/ai/index.ts";
import { expect, onTestFinished } from "../support/own-test.ts";
import { anthropic } from "../vendor-servers/anthropic.ts";
import { chatAt } from "../vendor-servers/chat.ts";
import { google } from "../vendor-servers/google.ts";
import { createVendorServer, say, type VendorProtocol } from "../vendor-servers/index.ts";
import { openai } from "../vendor-servers/openai.ts";

const key = "key-of-the-environment-1234567890";
const own = { anthropic, google, openai } as const;

/** What the servers refuse, by the reports of their users. */
const kinds: Readonly<Record<string, Partial<Parameters<typeof chatAt>[1]>>> = {
  mistral: { unknownField: "stream_options", thoughts: "refused", listsThoughts: true, shortIds: true },
  groq: { thoughts: "refused" },
  cerebras: { thoughts: "refused" },
  deepseek: { thoughts: "needed" },
};

function protocolOf(id: string, address: string, byChat: boolean): VendorProtocol {
  const needsKey = knownProvider(id)?.keyVariable !== undefined;
  const isOwn = id in own;
  if (isOwn && !byChat) return own[id as keyof typeof own];
  return chatAt(id === "google" ? `${address}/openai` : address, { needsKey, ...kinds[id] });
}

/** Where requests to an origin go instead. */
const standIns = new Map<string, string>();
const realFetch = globalThis.fetch;

/** For a whole file: no request of it reaches a provider. */
export function interceptProviders(): void {
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const standIn = standIns.get(url.origin);
    return await realFetch(standIn === undefined ? input : `${standIn}${url.pathname}${url.search}`, init);
  };
}

const looking = definePlugin({
  id: "looking",
  version: "1.0.0",
  host: "*",
  setup(host) {
    const parameters = Type.Object({ what: Type.String() });
    host.tool({ name: "look_up", description: "Looks something up.", parameters, run: () => "It is under the mat." });
  },
});

/** A model, the token of a channel, and the key in the environment. */
export async function answersByName(id: string, { byChat }: { readonly byChat: boolean }): Promise<void> {
  const { address = "", keyVariable } = knownProvider(id) ?? {};
  // A model of Google that calls tools in its own form.
  const model = id === "google" ? "gemini-3-pro-preview" : "some-model";
  const server = await createVendorServer(protocolOf(id, address, byChat), { model, key });
  const { origin } = new URL(address);
  standIns.set(origin, server.url);
  onTestFinished(async () => {
    standIns.delete(origin);
    await server.close();
  });
  const host = await createTestHost({
    plugins: [ai, looking],
    environment: keyVariable === undefined ? {} : { [keyVariable]: key },
    config: {
      agents: { defaults: { model: `${id}/${model}` } },
      channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
    },
  });
  onTestFinished(() => host.close());
  const call = { name: "look_up", args: { what: "the key" } };
  server.script(say({ thought: "They want the key.", calls: [call] }), say({ text: `I am ${id}.` }));
  const ended = await host.say("Who are you?");
  expect(host.outbox().map(({ text }) => text)).toEqual([`I am ${id}.`]);
  expect(ended.outcome).toBe("answered");
  expect(server.requests.at(-1)?.raw).toContain("It is under the mat.");
}
