/** Presses of buttons: each is an event of its own, and is answered at once. */
import { realWait } from "../../host/played-clock.ts";
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** Asks the person, and lets them press a button with this value. */
async function pressed(bench: Bench, value: string): Promise<void> {
  const { address } = await bench.meet("Hello");
  const buttons = [[{ text: "Agree", value: "agree-value" }]];
  for (const part of bench.connection.render(textReply("Do you agree?", { buttons }), address))
    await bench.connection.send(part, address, never);
  await bench.able("press")(value);
}

async function isReceived(bench: Bench): Promise<void> {
  await pressed(bench, "agree-value");
  const presses = () => bench.messages().filter(({ inbound }) => inbound.kind === "press");
  await bench.until(
    () => presses().length > 0,
    () =>
      "The person pressed a button, but no press was received. Call account.receive for it, and parse it as " +
      "kind press.",
  );
  const [message] = bench.messages();
  const [{ inbound: press, ...at }, more] = presses() as [ReturnType<Bench["messages"]>[number], unknown?];
  if (more !== undefined) throw new Error("The person pressed a button once, but two presses were received.");
  const expected = "callback_data: agree-value";
  if (press.text !== expected)
    throw new Error(
      `The press has the text ${shown(press.text)}. Its text must be ${shown(expected)}, the form that models expect.`,
    );
  if (press.sender.id !== message?.inbound.sender.id)
    throw new Error(`The sender of the press is ${press.sender.id}, which is another person.`);
  if (!press.mention)
    throw new Error(
      "The press has no mention, so the bot would not reply in a group. A press always addresses the bot.",
    );
  if (at.lane !== message?.lane)
    throw new Error(`The press has the lane ${at.lane}, but its chat has ${message?.lane}.`);
}

async function acknowledged(bench: Bench, situation: string): Promise<() => number> {
  const count = bench.able("acknowledged");
  await bench.until(
    () => count() > 0,
    () => `${situation}, and the channel did not acknowledge it, so the button appears stuck.`,
  );
  return count;
}

async function isAcknowledged(bench: Bench): Promise<void> {
  await pressed(bench, "agree-value");
  const count = await acknowledged(bench, "The person pressed a button");
  await realWait(150);
  if (count() !== 1)
    throw new Error(
      `The person pressed a button, and the channel acknowledged it ${count()} times. Acknowledge it once.`,
    );
}

async function unknownIsAcknowledged(bench: Bench): Promise<void> {
  await pressed(bench, "of-an-old-message");
  await acknowledged(bench, "The person pressed an unknown button");
}

async function refusedIsAcknowledged(bench: Bench): Promise<void> {
  bench.test.check = async () => ({ allowed: false, code: "sender_not_allowed", notice: "This bot is not for you." });
  await pressed(bench, "agree-value");
  await acknowledged(bench, "A refused sender pressed a button");
}

export const pressRules: readonly Rule[] = [
  { title: "presses > a press is received as a press", capability: "buttons", needs: ["press"], run: isReceived },
  {
    title: "presses > a press is acknowledged once",
    capability: "buttons",
    needs: ["press", "acknowledge"],
    run: isAcknowledged,
  },
  {
    title: "presses > an unknown press is acknowledged",
    capability: "buttons",
    needs: ["press", "acknowledge"],
    run: unknownIsAcknowledged,
  },
  {
    title: "presses > a refused press is acknowledged",
    capability: "buttons",
    needs: ["press", "acknowledge"],
    run: refusedIsAcknowledged,
  },
];
