/** Groups: where a message belongs, whether it addresses the bot, and whether the bot is a member. */
import { type Bench, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

function groupsOf({ platform }: Bench): NonNullable<Bench["platform"]["groups"]> {
  if (platform.groups === undefined) throw new Error("platform.can lists groups, but the platform has no groups.");
  return platform.groups;
}

/** Messages of the person in a group: the first addresses the bot. */
async function written(bench: Bench): Promise<readonly ReturnType<Bench["messages"]>[number][]> {
  await bench.connection.start();
  await bench.platform.write("for the bot", { group: true, mention: true });
  await bench.platform.write("for the others", { group: true });
  const found = () =>
    ["for the bot", "for the others"].map((text) =>
      bench.messages().find(({ inbound }) => inbound.text.includes(text)),
    );
  await bench.until(
    () => found().every((one) => one !== undefined),
    () =>
      `Two messages were written in a group, and ${found().filter((one) => one !== undefined).length} were received.`,
  );
  return found().flatMap((one) => one ?? []);
}

async function isGroup(bench: Bench): Promise<void> {
  const { inside } = groupsOf(bench);
  for (const { inbound } of await written(bench)) {
    if (inbound.chat.kind !== "group")
      throw new Error(`A message in a group has a chat of the kind ${inbound.chat.kind}.`);
    if (inbound.chat.id !== inside)
      throw new Error(`A message in the group ${inside} has the chat ${inbound.chat.id}.`);
  }
}

async function hasOwnLane(bench: Bench): Promise<void> {
  const [{ lane }] = (await written(bench)) as [ReturnType<Bench["messages"]>[number]];
  await bench.platform.write("in private");
  const direct = () => bench.messages().find(({ inbound }) => inbound.text.includes("in private"));
  await bench.until(
    () => direct() !== undefined,
    () => "A message in the direct chat was not received.",
  );
  if (direct()?.lane === lane)
    throw new Error(`A group and a direct chat have the same lane, ${lane}, so they would wait for each other.`);
}

async function knowsMention(bench: Bench): Promise<void> {
  const [addressed, other] = (await written(bench)).map(({ inbound }) => inbound.mention);
  if (addressed !== true)
    throw new Error("A message that addresses the bot in a group has no mention, so the bot would not reply.");
  if (other !== false) throw new Error("A message for others in a group has a mention, so the bot would reply to it.");
}

async function knowsName(bench: Bench): Promise<void> {
  const [named, other] = (await written(bench)).map(({ inbound }) => inbound.mentionedByName);
  if (named !== true)
    throw new Error(
      "A text that names the bot in a group has no mentionedByName, so the bot would never reply to another bot.",
    );
  if (other === true)
    throw new Error(
      "A text for others in a group has mentionedByName, so two bots may reply to each other without end.",
    );
}

async function member(bench: Bench, id: string): Promise<{ readonly ok: boolean; readonly detail: string }> {
  await bench.connection.start();
  const outcome = await bench.ending(Promise.resolve(bench.connection.members?.(id)));
  if (outcome === "late" || "error" in outcome || outcome.value === undefined)
    throw new Error(
      `members of the group ${id} does not resolve. Return ok and a detail, even if the bot is not in the group.`,
    );
  return outcome.value;
}

async function knowsMember(bench: Bench): Promise<void> {
  const found = await member(bench, groupsOf(bench).inside);
  if (!found.ok) throw new Error(`The bot is in the group, but members returns ${shown(found)}.`);
}

async function knowsStranger(bench: Bench): Promise<void> {
  const found = await member(bench, groupsOf(bench).outside);
  if (found.ok || found.detail === "")
    throw new Error(`The bot is not in the group, but members returns ${shown(found)}. Return ok: false and a reason.`);
}

export const groupRules: readonly Rule[] = [
  { title: "groups > a message has the group as its chat", needs: ["groups"], run: isGroup },
  { title: "groups > a group has a lane of its own", needs: ["groups"], run: hasOwnLane },
  { title: "groups > only what addresses the bot has a mention", needs: ["groups"], run: knowsMention },
  { title: "groups > only a text that names the bot says so", needs: ["groups"], run: knowsName },
  { title: "groups > members knows the bot's own group", function: "members", needs: ["groups"], run: knowsMember },
  {
    title: "groups > members resolves for a group without the bot",
    function: "members",
    needs: ["groups"],
    run: knowsStranger,
  },
];
