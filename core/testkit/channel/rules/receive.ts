/** Rules about receiving platform events, and about a complete conversation. */
import { createTestHost } from "../../host/test-host.ts";
import { type Bench, isMessage, shown } from "../bench.ts";
import type { ChannelContractOptions } from "../options.ts";
import type { Rule } from "../rule.ts";

async function takesInOnce(bench: Bench): Promise<void> {
  const { connection, test, platform, definition } = bench;
  await bench.meet("first");
  await platform.write("second");
  const seen = () =>
    test.received.flatMap((event) => {
      const parsed = connection.parse(event.raw);
      return isMessage(parsed) ? [{ ...event, text: parsed.text }] : [];
    });
  await bench.until(
    () => seen().some(({ text }) => text.includes("second")),
    () => "The second message of the person was not received.",
  );
  const [one, other, more] = seen();
  if (one === undefined || other === undefined || more !== undefined || !one.text.includes("first"))
    throw new Error(`Two messages were written, and received were ${shown(seen().map(({ text }) => text))}.`);
  if (one.id === other.id) throw new Error(`Two messages have the same id, ${one.id}: the second would be taken for a repetition.`);
  if (one.lane !== other.lane) throw new Error("Two messages of one chat have different lanes: they would run side by side.");
  const lead = `${definition.id}:default:`;
  if (!one.lane.startsWith(lead)) throw new Error(`The lane ${one.lane} does not begin with ${lead}: begin with channel and account.`);
}

async function keepsIdOfRepetition(bench: Bench): Promise<void> {
  const { test, connection, platform } = bench;
  await bench.meet("Hello");
  await bench.fail("repeat");
  // A message written after the repetition arrives after it.
  await platform.write("the last one");
  const seen = () => test.received.map((event) => ({ id: event.id, parsed: connection.parse(event.raw) }));
  const says = (text: string) => seen().filter(({ parsed }) => isMessage(parsed) && parsed.text.includes(text));
  await bench.until(
    () => says("the last one").length > 0,
    () => "The message after a repetition was not received.",
  );
  // A channel that recognizes the repetition itself need not submit it.
  const ids = [...new Set(says("Hello").map(({ id }) => id))];
  if (ids.length > 1)
    throw new Error(`An event that came twice has the ids ${ids.join(" and ")}: use the platform's id, so that it is answered once.`);
}

async function confirmsNothingUnstored(bench: Bench): Promise<void> {
  const { test, connection, platform } = bench;
  let refused = 0;
  test.beforeStore = () => {
    refused += 1;
    if (refused === 1) throw new Error("The disk is full.");
  };
  await connection.start();
  await platform.write("Hello");
  await bench.until(
    () => test.received.some(({ raw }) => isMessage(connection.parse(raw))),
    () => "An event that could not be stored did not come again: confirm it to the platform only when receive has resolved.",
  );
}

/** Runs a gateway with the channel and its platform. A person writes, and reads the agent's reply. */
async function converses(bench: Bench, { thread }: { readonly thread: boolean }): Promise<void> {
  const { definition, platform, section } = bench;
  await bench.close();
  const where = { thread };
  await using host = await createTestHost({
    plugins: [pluginOf(definition)],
    config: {
      channels: {
        [definition.id]: {
          dmPolicy: "open",
          allowFrom: ["*"],
          groupPolicy: "open",
          groups: { "*": { requireMention: false } },
          ...section,
        },
      },
    },
    // The rule makes no demands on what a channel logs during an outage.
    allowErrors: [/./],
  });
  let accounts: Awaited<ReturnType<typeof host.accounts>> = [];
  await bench.until(
    async () => {
      accounts = await host.accounts();
      return accounts.some(({ channel, state }) => channel === definition.id && state === "connected");
    },
    () => `In a gateway the account does not connect: ${shown(accounts)}.`,
  );
  await platform.write("How are you?", where);
  await bench.until(
    () => platform.read(where).some((text) => text.includes("heard: How are you?")),
    () => `The person wrote${thread ? " in a thread" : ""}, and sees there ${shown(platform.read(where))}: the answer is missing.`,
  );
}

function pluginOf(definition: Bench["definition"]): ChannelContractOptions["channel"] {
  const { id, version, host, codes } = definition;
  return { id, version, host, ...(codes === undefined ? {} : { codes }), channel: definition, setup: (given) => given.channel(definition) };
}

export const receiveRules: readonly Rule[] = [
  { title: "receive > each message once, in its order, in the lane of its chat", needs: [], run: takesInOnce },
  { title: "receive > a repetition has the id of the first", needs: ["repeat"], run: keepsIdOfRepetition },
  { title: "receive > what could not be stored is not confirmed", needs: ["unconfirmed"], run: confirmsNothingUnstored },
  { title: "conversation > a person is answered", needs: [], run: (bench) => converses(bench, { thread: false }) },
  {
    title: "conversation > an answer stays in its thread",
    capability: "threads",
    needs: [],
    run: (bench) => converses(bench, { thread: true }),
  },
];
