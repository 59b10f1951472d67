/** A whole gateway with the channel and its platform. */
import type { EngineTurn } from "../../sdk/contract.ts";
import type { TestHost } from "../host/options.ts";
import { createTestHost } from "../host/test-host.ts";
import { type Bench, shown } from "./bench.ts";
import type { ChannelContractOptions } from "./options.ts";

type Definition = Bench["definition"];

/** Replaces the connection of the bench with one in a gateway, and resolves once that is connected. */
export async function openConversation(
  bench: Bench,
  how: {
    readonly definition?: Definition;
    /** The state in it lasts when the gateway has ended. */
    readonly directory?: string;
    readonly answer?: (turn: EngineTurn) => string | Promise<string>;
  } = {},
): Promise<TestHost> {
  const { definition, section } = bench;
  await bench.close();
  const access = {
    dmPolicy: "open",
    allowFrom: ["*"],
    groupPolicy: "open",
    groups: { "*": { requireMention: false } },
  };
  const host = await createTestHost({
    plugins: [pluginOf(how.definition ?? definition)],
    config: { channels: { [definition.id]: { ...access, ...section } } },
    ...(how.answer === undefined ? {} : { answer: how.answer }),
    ...(how.directory === undefined ? {} : { directory: how.directory }),
    // What a channel logs of an outage is its own business.
    allowErrors: [/./],
  });
  await connected(bench, host);
  return host;
}

/** Waits until the account in the gateway is connected. */
export async function connected(bench: Bench, host: TestHost): Promise<void> {
  let accounts: Awaited<ReturnType<typeof host.accounts>> = [];
  await bench.until(
    async () => {
      accounts = await host.accounts();
      return accounts.some(({ channel, state }) => channel === bench.definition.id && state === "connected");
    },
    () => `In a gateway the account does not connect: ${shown(accounts)}.`,
  );
  bench.postsTo(host.url);
}

function pluginOf(definition: Definition): ChannelContractOptions["channel"] {
  const { id, version, host, codes } = definition;
  return {
    id,
    version,
    host,
    ...(codes === undefined ? {} : { codes }),
    channel: definition,
    setup: (given) => given.channel(definition),
  };
}
