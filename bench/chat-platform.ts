/**
 * The emulated platform in a process of its own, with people who write, and a clock. Messages from its parent say what
 * to measure. The clock of this process measures from the moment an update is available until its reply arrives.
 */
import { createPlatform, type PlatformEvent } from "../plugins/playground/platform/index.ts";

export type ChatTask =
  | { readonly what: "roundtrip"; readonly bot: string; readonly count: number }
  /**
   * `backlog` is timed from the moment when everything is waiting. Both fail if the replies of a chat are out of order,
   * which can be allowed for a bot that promises no order.
   */
  | {
      readonly what: "throughput" | "backlog";
      readonly bot: string;
      readonly chats: number;
      readonly messages: number;
      readonly anyOrder?: boolean;
    }
  /** Everyone writes this many messages. Answers with how many messages the bot has sent by then. */
  | { readonly what: "write"; readonly bot: string; readonly messages: number }
  /** How many messages the bots have sent so far. */
  | { readonly what: "count"; readonly bot: string }
  /** How many of the written messages got one reply, and how many more replies there were. */
  | { readonly what: "answered"; readonly bot: string };

const people = Array.from({ length: 1_000 }, (_, index) => ({ id: 10_001 + index, first_name: `Person ${index}` }));
const bots = process.argv
  .slice(2)
  .map((username, index) => ({ username, name: username, token: `${7_000 + index}:bench-bot-token` }));
const platform = await createPlatform({ bots, seed: { people, groups: [] }, recordCalls: false });
let serial = 0;
let newcomers = 0;
let answers = 0;
/** How often each written message was answered, keyed by chat and text. */
const notes = new Map<string, number>();
platform.on((event) => {
  const text = answerOf(event);
  if (text === undefined || event.type !== "message") return;
  answers += 1;
  const note = `${event.message.chat.id} ${text}`;
  const before = notes.get(note);
  if (before !== undefined) notes.set(note, before + 1);
});

/** The text of a bot's message. */
function answerOf(event: PlatformEvent): string | undefined {
  return event.type === "message" && event.message.from.is_bot ? event.message.text : undefined;
}

/** One message at a time, each from a person who has not written before: milliseconds from the update to its reply. */
async function roundtrip(bot: string, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  const person = people[people.length - 1 - (newcomers++ % people.length)];
  for (let done = 0; done < count && person !== undefined; done += 1) {
    serial += 1;
    const text = `message ${serial}`;
    const answered = platform.waitFor((event) => answerOf(event) === text, 10_000);
    const begun = performance.now();
    platform.act.say(person.id, person.id, text, { bot });
    await answered;
    times.push(performance.now() - begun);
    // People do not write at the very moment of a reply, when the bot is still finishing its turn.
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  return times;
}

function write(bot: string, messages: number): void {
  for (let round = 0; round < messages; round += 1) {
    for (const { id } of people) {
      notes.set(`${id} note ${round}`, 0);
      platform.act.say(id, id, `note ${round}`, { bot });
    }
  }
}

function answered(): readonly number[] {
  const often = [...notes.values()];
  return [often.filter((times) => times === 1).length, often.filter((times) => times > 1).length];
}

async function work(task: ChatTask): Promise<readonly number[]> {
  if (task.what === "roundtrip") return roundtrip(task.bot, task.count);
  if (task.what === "throughput" || task.what === "backlog") return flood(task);
  if (task.what === "answered") return answered();
  if (task.what === "write") write(task.bot, task.messages);
  return [answers];
}

/** Everything at once: milliseconds until the last reply. */
async function flood({
  what,
  bot,
  chats,
  messages,
  anyOrder = false,
}: Extract<ChatTask, { readonly chats: number }>): Promise<readonly number[]> {
  let open = chats * messages;
  let disordered = 0;
  const latest = new Map<number, number>();
  const done = Promise.withResolvers<void>();
  const end = platform.on((event) => {
    const text = answerOf(event);
    if (text === undefined || event.type !== "message") return;
    const chat = event.message.chat.id;
    const place = Number(text.slice("message ".length));
    // Messages go round the chats, so the next one of a chat is one round later.
    if (place !== (latest.get(chat) ?? place - chats) + chats) disordered += 1;
    latest.set(chat, place);
    open -= 1;
    if (open === 0) done.resolve();
  });
  let begun = performance.now();
  for (let round = 0; round < messages; round += 1) {
    for (const { id } of people.slice(0, chats)) {
      serial += 1;
      platform.act.say(id, id, `message ${serial}`, { bot });
    }
  }
  if (what === "backlog") begun = performance.now();
  const late = setTimeout(() => done.reject(new Error(`${open} messages were not answered within 120 s`)), 120_000);
  await done.promise.finally(() => {
    clearTimeout(late);
    end();
  });
  const ms = performance.now() - begun;
  if (disordered > 0 && !anyOrder) throw new Error(`${disordered} answers were not in the order of their chat`);
  return [ms];
}

process.on("message", (task: ChatTask) => {
  work(task).then(
    (times) => process.send?.({ times }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({ url: platform.url, tokens: bots.map(({ token }) => token) });
