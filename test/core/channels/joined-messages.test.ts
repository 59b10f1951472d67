/** Messages that are handled as one: of a deleted one, only its own words go. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  type ChannelAccount,
  type ChannelInbound,
  defineChannel,
  type EngineTurn,
  type Json,
  type TurnEvent,
  Type,
} from "../../../core/sdk/contract.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { createTestHost } from "../../../core/testkit/index.ts";

interface Raw {
  readonly id: number;
  readonly text: string;
  readonly edits?: number;
  readonly deletes?: number;
}

const person = { chat: { id: "7", kind: "direct" }, sender: { id: "7" } } as const;

function parse(raw: Json, more: readonly Json[] = []): ChannelInbound {
  const { id, text, edits, deletes } = raw as unknown as Raw;
  if (deletes !== undefined) return { ...person, kind: "delete", text: "", messageId: String(deletes) };
  const texts = [text, ...more.map((one) => (one as unknown as Raw).text)];
  return {
    ...person,
    kind: edits === undefined ? "message" : "edit",
    text: texts.join(" "),
    messageId: String(edits ?? id),
  };
}

/** A channel that joins what one person writes within a second. */
async function open(answer: (turn: EngineTurn, signal: AbortSignal) => string | AsyncIterable<TurnEvent>) {
  let account: ChannelAccount<object> | undefined;
  const sent: string[] = [];
  const turns: string[] = [];
  const channel = defineChannel({
    id: "joining",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 4_000 },
    open(opened) {
      account = opened;
      return {
        start: async () => opened.status({ state: "connected" }),
        parse,
        render: ({ text }) => [{ kind: "text", chars: text.length, body: text }],
        async send({ body }) {
          sent.push(String(body));
          return { messageId: `out-${sent.length}` };
        },
        close: async () => {},
      };
    },
  });
  const host = await createTestHost({
    plugins: [channel],
    config: { channels: { joining: { dmPolicy: "open", allowFrom: ["*"] } } },
    answer(turn, signal) {
      turns.push(turn.inbound.text);
      return answer(turn, signal);
    },
  });
  onTestFinished(async () => {
    await host.close();
  });
  const receive = async (raw: Raw) => {
    const joined = raw.deletes === undefined && raw.edits === undefined;
    const gather = joined ? { gather: { key: "person:7", due: host.now() + 1_000, extend: true as const } } : {};
    const { eventId } = (await account?.receive({ ...raw }, gather)) ?? { eventId: "" };
    return eventId;
  };
  const conversation = async () => {
    const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
    try {
      const sessions = await store.sessionReports({ limit: 9 });
      return JSON.stringify(await Promise.all(sessions.map(({ key }) => store.transcript(key))));
    } finally {
      await store.close();
    }
  };
  return { host, sent, turns, receive, conversation };
}

test("before the turn: the rest is answered without the deleted message, with the edited text of another", async () => {
  const { host, turns, receive } = await open(() => "answer");
  const one = await receive({ id: 1, text: "one" });
  await receive({ id: 2, text: "two" });
  await receive({ id: 3, text: "three" });
  await receive({ id: 4, text: "", deletes: 1 });
  const edit = await receive({ id: 5, text: "TWO", edits: 2 });
  await host.advance(2_000);
  expect(turns).toEqual(["TWO three"]);
  expect(await host.settled(one)).toMatchObject({ outcome: "answered" });
  expect(await host.settled(edit)).toMatchObject({ reason: "edit_taken_up" });
});

test("before the turn: a unit of which nothing is left ends without one", async () => {
  const { host, turns, receive } = await open(() => "answer");
  const ids = [await receive({ id: 1, text: "one" }), await receive({ id: 2, text: "two" })];
  await receive({ id: 3, text: "", deletes: 2 });
  await receive({ id: 4, text: "", deletes: 1 });
  await host.advance(2_000);
  for (const id of ids) expect(await host.settled(id)).toMatchObject({ reason: "deleted_by_sender" });
  expect(turns).toEqual([]);
});

test("during the turn: the turn starts again with the other messages", async () => {
  const begun = Promise.withResolvers<void>();
  async function* slow(signal: AbortSignal): AsyncGenerator<TurnEvent> {
    begun.resolve();
    yield { type: "text", delta: "I begin " };
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  const { host, sent, turns, receive, conversation } = await open(({ inbound }, signal) =>
    inbound.text.includes("secret") ? slow(signal) : `about ${inbound.text}`,
  );
  const one = await receive({ id: 1, text: "one" });
  await receive({ id: 2, text: "secret" });
  const advancing = host.advance(1_500);
  await begun.promise;
  await receive({ id: 3, text: "", deletes: 2 });
  await advancing;
  expect(await host.settled(one)).toMatchObject({ outcome: "answered" });
  expect(turns).toEqual(["one secret", "one"]);
  expect(sent).toEqual(["about one"]);
  expect(await conversation()).not.toContain("secret");
});

test("after the turn: the rest of the message stays in the conversation", async () => {
  const { host, receive, conversation } = await open(() => "answer");
  await receive({ id: 1, text: "one" });
  await receive({ id: 2, text: "secret" });
  await host.advance(2_000);
  const deletion = await receive({ id: 3, text: "", deletes: 2 });
  expect(await host.settled(deletion)).toMatchObject({ reason: "message_deleted" });
  const left = await conversation();
  expect(left).toMatch(/UTC\] one"/);
  expect(left).toContain("answer");
  expect(left).not.toContain("secret");
});
