/**
 * Reminders that people ask the agent for, through a whole gateway. The engine calls the tool that the message names:
 * `remind {...}`.
 */
import { describe, expect, test } from "vitest";
import { plainText } from "../../../core/sdk/channel.ts";
import type { EngineTurn, Json } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHostOptions } from "../../../core/testkit/index.ts";
import schedule from "../../../plugins/schedule/index.ts";
import { parseMarkdown } from "../../support/rich-text.ts";

const minute = 60_000;

/** Calls a tool where the message is one, and says what else it was asked. */
async function obey({ inbound, tools }: EngineTurn, signal: AbortSignal): Promise<string> {
  const [, name, args = "{}"] = /^(?:@bot )?(remind|reminders|cancel_reminder)(?: (.*))?$/.exec(inbound.text) ?? [];
  if (name === undefined) return inbound.request === undefined ? "hello" : `asked: ${inbound.text}`;
  const tool = tools.find((one) => one.name === name);
  return tool === undefined ? `no ${name}` : JSON.stringify(await tool.run(JSON.parse(args) as Json, signal));
}

const open = (more: Omit<TestHostOptions, "plugins"> = {}) =>
  createTestHost({
    plugins: [schedule],
    answer: obey,
    ...more,
    config: { agents: { defaults: { timezone: "UTC" } }, ...more.config },
  });

type Host = Awaited<ReturnType<typeof open>>;
type Said = Parameters<Host["say"]>[1];

interface Result {
  readonly ok: boolean;
  readonly id: string;
  readonly next: readonly string[];
  readonly code?: string;
  readonly error?: string;
  readonly now?: string;
  readonly reminders?: readonly Json[];
}

async function call(host: Host, text: string, said: Said = {}): Promise<Result> {
  await host.say(text, said);
  return JSON.parse(host.outbox().at(-1)?.text ?? "") as Result;
}

const remind = (host: Host, args: object, said?: Said) => call(host, `remind ${JSON.stringify(args)}`, said);

/** What was sent since. */
const since = (host: Host, count: number) =>
  host
    .outbox()
    .slice(count)
    .map(({ chat, thread, text }) => [chat, thread, text]);

describe("a reminder", () => {
  test("arrives at its time with the original text, only once", async () => {
    await using host = await open();
    const result = await remind(host, { text: "Call Ada.", in: "5m" });
    expect(result).toMatchObject({
      ok: true,
      kind: "say",
      next: [expect.stringMatching(/^\w{3} \d{4}-\d\d-\d\d \d\d:\d\d UTC$/)],
    });
    await host.advance(4 * minute);
    expect(host.outbox()).toHaveLength(1);
    await host.advance(10 * minute);
    expect(since(host, 1)).toEqual([["owner", undefined, "🔔 Reminder: Call Ada."]]);
    expect((await call(host, "reminders")).reminders).toEqual([]);
  });

  test("is shown literally when it is sent and listed", async () => {
    await using host = await open();
    const text = "edit `__init__.py` and *args\n# not a heading, [a](http://b.example) ||x||";
    await remind(host, { text, in: "5m" });
    await host.say("/reminders");
    expect(parseMarkdown(host.outbox().at(-1)?.text ?? "").text).toContain(text.replace("\n", " "));
    await host.advance(6 * minute);
    const sent = host.outbox().at(-1)?.text ?? "";
    expect([parseMarkdown(sent).text, plainText(sent)]).toEqual([`🔔 Reminder: ${text}`, `🔔 Reminder: ${text}`]);
  });

  test("is sent at its time even if a turn waits for the model, in order of the times", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using host = await open({
      config: { agents: { defaults: { maxConcurrent: 1, timezone: "UTC" } } },
      async answer(turn, signal) {
        if (turn.inbound.text !== "think") return obey(turn, signal);
        await promise;
        return "thought";
      },
    });
    await remind(host, { text: "Second.", in: "6m" });
    await remind(host, { text: "First.", in: "5m" });
    const count = host.outbox().length;
    const thinking = host.say("think");
    await host.advance(7 * minute);
    await expect
      .poll(() => since(host, count).map(([, , text]) => text))
      .toEqual(["🔔 Reminder: First.", "🔔 Reminder: Second."]);
    resolve();
    await thinking;
    expect(since(host, count).map(([, , text]) => text)).toEqual([
      "🔔 Reminder: First.",
      "🔔 Reminder: Second.",
      "thought",
    ]);
  });

  test("is sent at its time even if a turn of its chat waits for an approval", async () => {
    await using host = await open({ config: { agents: { defaults: { maxConcurrent: 1, timezone: "UTC" } } } });
    await remind(host, { text: "Now.", in: "5m" });
    const asking = host.say(`remind ${JSON.stringify({ text: "Often.", cron: "* * * * *" })}`);
    await expect.poll(() => host.outbox().at(-1)?.text).toContain("remind");
    const count = host.outbox().length;
    await host.advance(6 * minute);
    await expect.poll(() => since(host, count).map(([, , text]) => text)).toContain("🔔 Reminder: Now.");
    await host.advance(20 * minute);
    await asking;
  });

  test("goes to the topic of the request, even if the person has written elsewhere since", async () => {
    await using host = await open();
    await remind(host, { text: "Stand-up!", in: "5m" }, { group: true, thread: "7", mention: true });
    await host.say("hello");
    const count = host.outbox().length;
    await host.advance(6 * minute);
    expect(since(host, count)).toEqual([["group", "7", "🔔 Reminder: Stand-up\\!"]]);
  });

  test("can start an agent turn in the chat's conversation, where HEARTBEAT_OK is plain text", async () => {
    const turns: EngineTurn[] = [];
    await using host = await open({
      answer(turn, signal) {
        turns.push(turn);
        return turn.inbound.request === undefined ? obey(turn, signal) : "HEARTBEAT_OK";
      },
    });
    await remind(
      host,
      { text: "Look at the weather.", in: "5m", kind: "ask" },
      { group: true, thread: "7", mention: true },
    );
    await host.advance(6 * minute);
    expect(since(host, 1)).toEqual([["group", "7", "HEARTBEAT_OK"]]);
    expect(turns[1]?.sessionKey).toBe(turns[0]?.sessionKey);
    expect(turns[1]?.messages.at(-1)?.text).toMatch(/This is the reminder \w{4}, due .*\nLook at the weather\.$/);
  });

  test("repeats by cron and lists its next three times with the zone", async () => {
    await using host = await open();
    const { next } = await remind(host, { text: "Tea.", cron: "0 9 * * *", timezone: "Asia/Tokyo" });
    expect(next).toEqual(Array(3).fill(expect.stringMatching(/ 09:00 Asia\/Tokyo \(UTC\+9\)$/)));
    await host.advance(48 * 60 * minute);
    expect(since(host, 1).map(([, , text]) => text)).toEqual(["🔔 Reminder: Tea.", "🔔 Reminder: Tea."]);
  });

  test("survives a kill, and a repeated call afterwards finds the existing reminder", async () => {
    let calls = 0;
    await using host = await open({
      async answer(turn, signal) {
        const answer = await obey(turn, signal);
        calls += 1;
        // The process dies after the tool has answered, and before the turn has ended.
        if (calls === 1) await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
        return answer;
      },
    });
    const said = host.say(`remind ${JSON.stringify({ text: "Once.", in: "10m" })}`);
    await expect.poll(() => calls).toBe(1);
    await host.restart({ killed: true });
    await said;
    expect((await call(host, "reminders")).reminders).toHaveLength(1);
    const count = host.outbox().length;
    await host.advance(11 * minute);
    expect(since(host, count).map(([, , text]) => text)).toEqual(["🔔 Reminder: Once."]);
  });

  test("for a person who lost access is not sent, and the owner is notified", async () => {
    const config = { channels: { loopback: { dmPolicy: "allowlist", allowFrom: ["owner", "bela"] } } };
    await using host = await open({ config });
    await remind(host, { text: "Secret.", in: "5m" }, { from: "bela" });
    await host.say("hello");
    await host.configure({ channels: { loopback: { allowFrom: ["owner"] } } });
    const count = host.outbox().length;
    await host.advance(6 * minute);
    await expect
      .poll(() => since(host, count))
      .toEqual([["owner", undefined, expect.stringContaining("could not run: sender_not_allowed")]]);
  });
});

describe("the reminder tools", () => {
  const refused: readonly (readonly [object, string, string])[] = [
    [{ text: "x", at: "2020-01-01T09:00" }, "time_past", "Wed 2020-01-01 09:00 UTC is in the past. It is "],
    [{ text: "x" }, "time_missing", "exactly one of at, in and cron"],
    [{ text: "x", in: "5m", at: "2030-01-01T09:00" }, "time_missing", "exactly one of at, in and cron"],
    [{ text: "x", in: "soon" }, "time_invalid", "in must be a time such as 30m"],
    [{ text: "x", cron: "often" }, "time_invalid", "which does not have five fields"],
    [{ text: "x", in: "5m", timezone: "Mars/Base" }, "timezone_unknown", "Mars/Base is not a time zone"],
    [{ text: "", in: "5m" }, "invalid_arguments", "text is missing"],
    [{ text: 7, in: "5m" }, "invalid_arguments", "text must be a text"],
    [{ text: "x", in: "5m", chat: "other" }, "invalid_arguments", "There is no argument chat"],
  ];

  test("reject an invalid request with the reason and the current time, and set nothing", async () => {
    await using host = await open();
    for (const [args, code, error] of refused) {
      expect(await remind(host, args), JSON.stringify(args)).toMatchObject({
        ok: false,
        code,
        error: expect.stringContaining(error),
      });
    }
    expect((await remind(host, { text: "x", at: "2020-01-01T09:00" })).error).toMatch(
      /It is \w{3} \d{4}-\d\d-\d\d \d\d:\d\d UTC now\./,
    );
    expect((await call(host, "reminders")).reminders).toEqual([]);
  });

  test("report an ask reminder that a budget refuses to the person", async () => {
    await using host = await open({
      config: { budget: { perDayTokens: 10 } },
      async *answer(turn, signal) {
        if (turn.inbound.text === "spend") {
          const call = await turn.spending?.begin({ model: "acme/model", inputTokens: 5, outputTokens: 5 });
          await turn.spending?.end(call?.id ?? "", { inputTokens: 5, outputTokens: 5 });
        }
        yield { type: "text", delta: await obey(turn, signal) };
        yield { type: "done" };
      },
    });
    const { id } = await remind(host, { text: "Look at the weather.", in: "5m", kind: "ask" }, { from: "7" });
    await host.say("spend", { from: "7" });
    await host.advance(6 * minute);
    expect(
      host
        .outbox()
        .filter(({ chat }) => chat === "7")
        .at(-1)?.text,
    ).toBe(`The reminder ${id} could not be answered: "Look at the weather."`);
  });

  test("require an owner's approval for a reminder that repeats more often than every five minutes", async () => {
    await using host = await open();
    await host.say("hello");
    const asking = remind(host, { text: "Blink.", cron: "*/2 * * * *" }, { from: "bela" });
    const question = () =>
      host
        .outbox()
        .find(({ chat, text }) => chat === "owner" && text.includes("It repeats more often than every 5 minutes."));
    await expect.poll(question).toBeDefined();
    await host.press("Deny");
    expect(await asking).toMatchObject({ ok: false, code: "denied" });
    expect(await remind(host, { text: "Look away.", cron: "*/5 * * * *" })).toMatchObject({ ok: true });
  });

  test("allow at most fifty reminders per chat", async () => {
    await using host = await open({
      async answer({ inbound, tools }, signal) {
        const tool = tools.find(({ name }) => name === "remind");
        const all = Array.from({ length: Number(inbound.text) }, () => tool?.run({ text: "x", in: "1d" }, signal));
        return JSON.stringify(
          ((await Promise.all(all)) as unknown as Result[]).filter(({ ok }) => !ok).map(({ code }) => code),
        );
      },
    });
    await host.say("52");
    expect(host.outbox().at(-1)?.text).toBe(JSON.stringify(["too_many_reminders", "too_many_reminders"]));
    await host.say("1", { from: "bela" });
    expect(host.outbox().at(-1)?.text).toBe("[]");
  });

  test("allow at most a hundred reminders per person in all chats of an account", async () => {
    await using host = await open({
      async answer({ inbound, tools }, signal) {
        const tool = tools.find(({ name }) => name === "remind");
        const all = Array.from({ length: Number(inbound.text) }, () => tool?.run({ text: "x", in: "1d" }, signal));
        return JSON.stringify(
          ((await Promise.all(all)) as unknown as Result[]).flatMap(({ ok, error }) => (ok ? [] : [error])),
        );
      },
    });
    const say = async (text: string, chat: string, from: string) => {
      await host.say(text, { chat, from, group: true, mention: true });
      return host.outbox().at(-1)?.text ?? "";
    };
    expect(await say("50", "kitchen", "eve")).toBe("[]");
    expect(await say("49", "garden", "eve")).toBe("[]");
    expect(await say("2", "attic", "eve")).toMatch(/^\["This person already has 100 reminders in all chats, [^"]+"\]$/);
    expect(await say("1", "attic", "bela")).toBe("[]");
  });

  test("list and cancel only the reminders of their own chat", async () => {
    await using host = await open();
    const { id } = await remind(host, { text: "Mine.", in: "10m" });
    expect((await call(host, "reminders", { from: "bela" })).reminders).toEqual([]);
    expect(await call(host, `cancel_reminder ${JSON.stringify({ id })}`, { from: "bela" })).toMatchObject({
      code: "reminder_unknown",
    });
    expect(await call(host, "reminders")).toMatchObject({
      now: expect.stringContaining("UTC"),
      reminders: [{ id, text: "Mine." }],
    });
    expect(await call(host, `cancel_reminder ${JSON.stringify({ id: id.toLowerCase() })}`)).toMatchObject({
      ok: true,
      cancelled: id,
    });
    const count = host.outbox().length;
    await host.advance(11 * minute);
    expect(since(host, count)).toEqual([]);
  });

  test("are not available to a webhook", async () => {
    const offered: string[][] = [];
    await using host = await open({
      answer({ tools }) {
        offered.push(tools.map(({ name }) => name));
        return "done";
      },
    });
    await host.deliver("agent", { message: "remind me", deliver: false });
    await host.say("hello");
    expect(offered.map((names) => names.filter((name) => name.includes("remind")))).toEqual([
      [],
      ["remind", "reminders", "cancel_reminder"],
    ]);
  });

  test("use the sender's time zone, which /timezone sets and a restart preserves", async () => {
    const told: string[] = [];
    await using host = await open({
      answer(turn, signal) {
        told.push(/The time zone of the sender is [^;]*/.exec(turn.instructions)?.[0] ?? "");
        return obey(turn, signal);
      },
    });
    await host.say("/timezone Asia/Tokyo", { from: "bela" });
    expect(host.outbox().at(-1)?.text).toMatch(
      /^Your time zone is Asia\/Tokyo\. It is .* Asia\/Tokyo \(UTC\+9\)\. It applies to new reminders\.$/,
    );
    await host.restart();
    const at = `${new Date(host.now() + 2 * 86_400_000).toISOString().slice(0, 10)}T09:00`;
    expect((await remind(host, { text: "x", at }, { from: "bela" })).next).toEqual([
      expect.stringContaining("09:00 Asia/Tokyo (UTC+9)"),
    ]);
    expect((await remind(host, { text: "x", at })).next).toEqual([expect.stringContaining("09:00 UTC")]);
    expect(told).toEqual([
      "The time zone of the sender is Asia/Tokyo, UTC+9 now",
      "The time zone of the sender is UTC",
    ]);
    await host.say("/timezone Mars/Base", { from: "bela" });
    expect(host.outbox().at(-1)?.text).toContain("There is no such time zone.");
    await host.say("/timezone default", { from: "bela" });
    expect(host.outbox().at(-1)?.text).toContain("Your time zone is UTC.");
  });
});

test("/reminders lists those of the chat and cancels one, with any text", async () => {
  await using host = await open();
  const { id } = await remind(host, { text: "a `b` **c**\n[d](http://e)", in: "10m" });
  await host.say("/reminders", { from: "bela" });
  expect(host.outbox().at(-1)?.text).toContain("There are no reminders in this chat.");
  await host.say("/reminders");
  const listed = parseMarkdown(host.outbox().at(-1)?.text ?? "").text;
  expect(listed).toContain(`• ${id} a \`b\` **c** [d](http://e): `);
  await host.say(`/reminders cancel ${id}`);
  expect(host.outbox().at(-1)?.text).toBe(`The reminder ${id} is cancelled.`);
  await host.say("/reminders");
  expect(host.outbox().at(-1)?.text).toContain("There are no reminders in this chat.");
});
