/** How events of the platform come in. */
import { type Bench, isMessage, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

async function takesInOnce(bench: Bench): Promise<void> {
  const { test, platform, definition } = bench;
  await bench.meet("first");
  await platform.write("second");
  const seen = () =>
    test.received.flatMap((event) => {
      const parsed = bench.parse(event.raw);
      return isMessage(parsed) ? [{ ...event, text: parsed.text }] : [];
    });
  await bench.until(
    () => seen().some(({ text }) => text.includes("second")),
    () => "The second message of the person was not received.",
  );
  const [one, other, more] = seen();
  if (one === undefined || other === undefined || more !== undefined || !one.text.includes("first"))
    throw new Error(`Two messages were written, but ${shown(seen().map(({ text }) => text))} was received.`);
  if (one.id === other.id)
    throw new Error(`Two messages have the same id, ${one.id}, so the second would be treated as a repetition.`);
  if (one.lane !== other.lane)
    throw new Error("Two messages of one chat have different lanes, so they would run in parallel.");
  const lead = `${definition.id}:default:`;
  if (!one.lane.startsWith(lead))
    throw new Error(`The lane ${one.lane} does not begin with ${lead}. A lane begins with channel and account.`);
}

async function keepsIdOfRepetition(bench: Bench): Promise<void> {
  const { test, platform } = bench;
  await bench.meet("Hello");
  await bench.fail("repeat");
  // A message written after the repetition arrives after it.
  await platform.write("the last one");
  const seen = () => test.received.map((event) => ({ id: event.id, parsed: bench.parse(event.raw) }));
  const says = (text: string) => seen().filter(({ parsed }) => isMessage(parsed) && parsed.text.includes(text));
  await bench.until(
    () => says("the last one").length > 0,
    () => "The message after a repetition was not received.",
  );
  // A channel that recognizes the repetition itself need not submit it.
  const ids = [...new Set(says("Hello").map(({ id }) => id))];
  if (ids.length > 1)
    throw new Error(
      `A repeated event has the ids ${ids.join(" and ")}. Use the platform's id, so that the bot replies once.`,
    );
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
    () => test.received.some(({ raw }) => isMessage(bench.parse(raw))),
    () =>
      "An event that could not be stored was not delivered again. Confirm it to the platform only when " +
      "receive has resolved.",
  );
}

/** A name is never worth a message. */
async function doesNotWaitForNames(bench: Bench): Promise<void> {
  const { platform } = bench;
  await bench.fail("nameless");
  await bench.connection.start();
  const texts = ["first", "second", "third"];
  for (const text of texts) await platform.write(text);
  const seen = () => bench.messages().map(({ inbound }) => inbound.text);
  const missing = () => texts.filter((text) => !seen().some((one) => one.includes(text)));
  await bench.until(
    () => missing().length === 0,
    () =>
      `The platform does not answer questions about users and chats, and ${shown(missing())} was not received. ` +
      "Submit an event without the name after a second or two.",
  );
  const order = seen().map((text) => texts.findIndex((one) => text.includes(one)));
  if (order.some((place, index) => place < (order[index - 1] ?? 0)))
    throw new Error(`The messages ${shown(texts)} were received as ${shown(seen())}. Keep the platform's order.`);
}

const settled =
  "A message was edited, but the edit was not received. Call account.receive for it, and parse it as kind edit.";

async function readsEdits(bench: Bench): Promise<void> {
  await bench.meet("Helo");
  await bench.able("edit")("Hello, edited");
  const edits = () => bench.messages().filter(({ inbound }) => inbound.kind === "edit");
  await bench.until(
    () => edits().length > 0,
    () => settled,
  );
  const [first] = bench.messages();
  const [edit] = edits();
  if (edit?.inbound.messageId !== first?.inbound.messageId)
    throw new Error(
      `The message has the messageId ${first?.inbound.messageId}, but its edit has ` +
        `${edit?.inbound.messageId}. An edit keeps the id of its message.`,
    );
  if (edit?.inbound.text.includes("edited") !== true)
    throw new Error(`The edit has the text ${shown(edit?.inbound.text)}.`);
}

async function editHasOwnId(bench: Bench): Promise<void> {
  await bench.connection.start();
  await bench.platform.write("Helo");
  await bench.able("edit")("Hello, edited");
  const seen = () => bench.messages();
  await bench.until(
    () => seen().some(({ inbound }) => inbound.kind === "edit"),
    () => settled,
  );
  const [first, second] = seen();
  if (first?.inbound.kind !== "message" || second === undefined)
    throw new Error("An edit was received before its message. Submit events in the platform's order.");
  if (first.id === second.id)
    throw new Error(
      `A message and its edit have the same id, ${first.id}, so the edit would be treated as a repetition.`,
    );
  if (first.lane !== second.lane)
    throw new Error("A message and its edit have different lanes, so they would run in parallel.");
}

async function readsDeletions(bench: Bench): Promise<void> {
  const { inbound: message } = await bench.meet("a secret");
  await bench.able("delete")();
  const found = () => bench.messages().find(({ inbound }) => inbound.kind === "delete");
  await bench.until(
    () => found() !== undefined,
    () =>
      "A message was deleted by its writer, but no deletion was received. Call account.receive for it, and parse it " +
      "as kind delete.",
  );
  const { messageId, sender, chat, text } = found()?.inbound ?? message;
  if (messageId !== message.messageId)
    throw new Error(
      `The message has the messageId ${message.messageId}, but its deletion has ${messageId}. A deletion has the id ` +
        "of its message.",
    );
  if (sender.id !== message.sender.id || chat.id !== message.chat.id)
    throw new Error(
      `${message.sender.id} deleted a message in the chat ${message.chat.id}, and the deletion is one of ` +
        `${sender.id} in ${chat.id}. The gateway would ignore it.`,
    );
  if (text !== "") throw new Error(`The deletion has the text ${shown(text)}. Leave it empty.`);
}

async function threadHasLane(bench: Bench): Promise<void> {
  await bench.connection.start();
  await bench.platform.write("outside");
  await bench.platform.write("inside", { thread: true });
  const laneOf = (text: string) => bench.messages().find(({ inbound }) => inbound.text.includes(text))?.lane;
  await bench.until(
    () => laneOf("outside") !== undefined && laneOf("inside") !== undefined,
    () => "A message in a thread and one outside it were written, but not both were received.",
  );
  if (laneOf("outside") === laneOf("inside"))
    throw new Error("A thread has the same lane as another place, so its messages would wait for those.");
}

async function seesThroughForgery(bench: Bench): Promise<void> {
  const { inbound: person } = await bench.meet("Hello");
  await bench.able("forge")("believe me");
  await bench.platform.write("the last one");
  await bench.until(
    () => bench.messages().some(({ inbound }) => inbound.text.includes("the last one")),
    () => "The message after a forged one was not received.",
  );
  for (const { inbound } of bench.messages()) {
    const { sender, chat, text } = inbound;
    if (sender.id !== person.sender.id || chat.id !== person.chat.id)
      throw new Error(
        `${person.sender.id} wrote ${shown(text)}, which became a message of ${sender.id} in the chat ` +
          `${chat.id}. Take sender and chat from what the platform vouches for, never from what the person ` +
          "writes.",
      );
  }
}

export const receiveRules: readonly Rule[] = [
  { title: "receive > each message once, in its order, in the lane of its chat", needs: [], run: takesInOnce },
  { title: "receive > a repetition has the id of the first", needs: ["repeat"], run: keepsIdOfRepetition },
  {
    title: "receive > a forged event stays one of its sender, in their chat",
    needs: ["forge"],
    run: seesThroughForgery,
  },
  {
    title: "receive > an event that could not be stored is not confirmed",
    needs: ["unconfirmed"],
    run: confirmsNothingUnstored,
  },
  {
    title: "receive > messages arrive, in order, although names cannot be looked up",
    needs: ["nameless"],
    run: doesNotWaitForNames,
  },
  { title: "receive > an edit keeps the id of its message", needs: ["edit"], run: readsEdits },
  { title: "receive > an edit is a separate event after its message", needs: ["edit"], run: editHasOwnId },
  { title: "receive > a deletion names its message and its writer", needs: ["delete"], run: readsDeletions },
  { title: "receive > a thread has a lane of its own", capability: "threads", needs: [], run: threadHasLane },
];
