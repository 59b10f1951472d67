/** Messages in a group that one person alone sees, and what a command answers there. */
import type { Part } from "../../../contract/index.ts";
import { addressOf, type Bench, never, shown, started, textReply } from "../bench.ts";
import { openConversation } from "../conversation.ts";
import type { Rule } from "../rule.ts";

/** How the person writes in the group what can be answered to them alone. */
const inGroup = ({ capabilities: { ephemeral } }: Pick<Bench, "capabilities">) => ({
  ...{ group: true, mention: true },
  ...(ephemeral === "interactions" && { interaction: true }),
});

/** What the person wrote in the group. */
async function asked(bench: Bench) {
  await started(bench);
  await bench.platform.write("Hello", inGroup(bench));
  const found = () => bench.messages().find(({ inbound }) => inbound.chat.kind !== "direct");
  await bench.until(
    () => found() !== undefined,
    () => "The person wrote in a group, and no message with a group as its chat was received.",
  );
  const { inbound } = found() as NonNullable<ReturnType<typeof found>>;
  if (bench.capabilities.ephemeral === "interactions" && inbound.interaction === undefined)
    throw new Error(
      'The person used a command of the platform, and capabilities.ephemeral is "interactions", but parse sets no ' +
        "interaction.",
    );
  return inbound;
}

async function onlySenderSees(bench: Bench): Promise<void> {
  const inbound = await asked(bench);
  const { sender, messageId, interaction } = inbound;
  const address = addressOf(bench.definition, inbound);
  const others = bench.able("others");
  const own = () => bench.platform.read({ group: true });
  const onlyFor = { sender: sender.id, messageId, interaction };
  for (const part of bench.connection.render(textReply("for you alone", { to: "sender" }), address))
    await bench.connection.send(JSON.parse(JSON.stringify({ ...part, onlyFor })) as Part, address, never);
  await bench.send("for everyone", address);
  await bench.until(
    () => others().some((text) => text.includes("for everyone")),
    () => `A message without onlyFor is for everyone, and the others in the group see ${shown(others())}.`,
  );
  if (others().some((text) => text.includes("for you alone")))
    throw new Error(
      `Everyone in the group sees a part whose onlyFor names one person: ${shown(others())}. Send it to that person ` +
        "alone, or do not declare capabilities.ephemeral.",
    );
  await bench.until(
    () => own().some((text) => text.includes("for you alone")),
    () => `The person does not see the part that is for them alone, but ${shown(own())}.`,
  );
}

async function answersCommand(bench: Bench): Promise<void> {
  const { platform, definition, capabilities } = bench;
  const others = bench.able("others");
  await using _host = await openConversation(bench);
  await platform.write(`${definition.commandPrefix ?? "/"}help`, inGroup(bench));
  const own = () => platform.read({ group: true });
  await bench.until(
    () => own().length > 0,
    () => "The person asked for the help in a group, and sees nothing there.",
  );
  const isPrivate = (capabilities.ephemeral ?? false) !== false;
  if (isPrivate && others().length > 0)
    throw new Error(
      `The person asked for the help in a group, and the others see ${shown(others())}, although ` +
        "capabilities.ephemeral is declared.",
    );
  if (!isPrivate && others().length === 0)
    throw new Error("The person asked for the help in a group, and the others see nothing of the answer.");
  await platform.write("How are you?", { group: true, mention: true });
  await bench.until(
    () => others().some((text) => /heard: .*How are you\?/s.test(text)),
    () => `The agent answers everyone in the group, and the others see ${shown(others())}.`,
  );
}

export const ephemeralRules: readonly Rule[] = [
  {
    title: "ephemeral > only the sender sees a part that is for them alone",
    capability: "ephemeral",
    needs: ["groups", "others"],
    run: onlySenderSees,
  },
  {
    title: "conversation > the answer of a command in a group is for its sender where the channel can show it so",
    needs: ["groups", "others"],
    run: answersCommand,
  },
];
