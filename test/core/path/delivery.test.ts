/** What becomes of the rows of an answer: over the death of the process, and while they wait. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createContacts } from "../../../core/channels/connection/contact.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import { ChannelError } from "../../../core/contract/plugin-errors.ts";
import type { Address, Decision, Part } from "../../../core/contract/types.ts";
import type { Log } from "../../../core/log/log.ts";
import { admission } from "../../../core/path/admission.ts";
import { deliver } from "../../../core/path/delivery.ts";
import { Trace } from "../../../core/path/endings/ending.ts";
import type { ChannelCapabilities } from "../../../core/sdk/contract.ts";
import type { OutboxRow } from "../../../core/state/outbox-row.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { createHooks } from "../../../core/stations/stations.ts";
import { createTestHost } from "../../../core/testkit/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const textPart = (text: string, more: Partial<Part> = {}): Part => ({
  kind: "text",
  chars: text.length,
  body: text,
  ...more,
});
const addressOf = (chat: string): Address => ({ channel: "loopback", account: "default", chat });
const answered = { outcome: "answered", reason: "answered" } as const;

/** The turn of an event in a chat of its own is over, and its parts are in the outbox. */
async function say(
  store: Store,
  chat: string,
  parts: readonly Part[],
  first?: "waiting",
): Promise<readonly OutboxRow[]> {
  const lane = `loopback:default:${chat}`;
  const event = {
    source: "loopback",
    kind: "update",
    account: "default",
    lane,
    authority: "channel" as const,
    body: {},
  };
  await store.accept({ event, id: chat, at: 1 });
  await store.claim(lane, { now: 1, limit: 10 });
  // As the channel of a test host renders them.
  const rendered = parts.map((part) => ({ ...part, body: { text: String(part.body), buttons: [], media: [] } }));
  const rows = rendered.map((part) => ({ address: addressOf(chat), operation: "send" as const, part }));
  return store.say({ unitId: chat, at: 1, rows, ending: answered, ...(first !== undefined && { first }) });
}

describe("after a process died while sending, the next one", () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

  afterEach(() => removeDirectory(directory));

  test("skips a failed part, repeats edits, and treats a waiting part as unsent", async () => {
    const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
    await store.begin(1);
    const [refused] = await say(store, "failed", [textPart("one"), textPart("two")]);
    await store.unsendable(refused?.id ?? 0, { at: 1, reason: "too_long" });
    await say(store, "waited", [textPart("three")], "waiting");
    const [change] = await say(store, "changed", [textPart("four", { replaces: "m9" })]);
    // Others had died over it before.
    for (let count = 0; count < 3; count += 1) await store.sending(change?.id ?? 0);
    await say(store, "doubtful", [textPart("five")]);
    await store.close();

    await using host = await createTestHost({ directory });
    const [failed, waited, changed, doubtful] = await Promise.all(
      ["failed", "waited", "changed", "doubtful"].map(host.settled),
    );
    expect(failed).toMatchObject({ outcome: "failed", reason: "too_long" });
    for (const report of [waited, changed, doubtful]) expect(report?.outcome).toBe("answered");
    const repeated = [failed, waited, changed, doubtful].map((report) =>
      report?.decisions.some(({ code }) => code === "possibly_repeated"),
    );
    expect(repeated).toEqual([false, false, false, true]);
    expect(
      host
        .outbox()
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(["five", "four", "three", "two"]);
  });

  test("resends the part a fixed number of times in all, and reports each possible repetition", async () => {
    const decision = {
      at: 1,
      station: "delivery",
      plugin: "core",
      verdict: "retry",
      code: "possibly_repeated",
    } as const;
    const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
    await store.begin(1);
    const sayDoubted = async (chat: string, doubts: number) => {
      const [row] = await say(store, chat, [textPart(chat)]);
      for (let count = 0; count < doubts; count += 1) await store.doubted(row?.id ?? 0, { decisions: [decision] });
      return row?.id ?? 0;
    };
    await sayDoubted("planned", 1);
    // The marks of repetitions: whether these were made, nobody knows.
    await store.sending(await sayDoubted("begun", 1));
    await sayDoubted("planned again", 2);
    await store.sending(await sayDoubted("begun again", 2));
    await store.close();

    await using host = await createTestHost({ directory });
    const chats = ["planned", "begun", "planned again", "begun again"];
    const ends = await Promise.all(chats.map(host.settled));
    expect(ends.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
      "answered answered",
      "answered answered",
      "answered answered",
      "failed send_fate_unknown",
    ]);
    const doubts = ends.map(({ decisions }) => decisions.filter(({ code }) => code === "possibly_repeated").length);
    expect(doubts).toEqual([1, 2, 2, 2]);
    expect(
      host
        .outbox()
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(["begun", "planned", "planned again"]);
  });
});

describe("an outbox row", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  /** The station with a channel of one function, and a store that notes what it is asked for. */
  function station(
    send: (part: Part) => string,
    options: {
      readonly retry?: object;
      readonly admit?: () => Promise<void> | undefined;
      readonly repeats?: ChannelCapabilities["repeats"];
    } = {},
  ) {
    const now = () => Date.now() - 1_000_000;
    const notes: string[] = [];
    const stored: Decision[] = [];
    const note = (what: string) => async (row: unknown) => void notes.push(`${what} ${row}`);
    const store = {
      sending: note("sending"),
      notSent: note("not sent"),
      unsendable: note("unsendable"),
      async doubted(row: unknown, { decisions }: { readonly decisions: readonly Decision[] }) {
        notes.push(`doubted ${row}`);
        stored.push(...decisions);
      },
      decide: async () => {},
    };
    const sent = async (row: number, _receipt: unknown, { next }: { readonly next?: number }) =>
      void notes.push(`sent ${row}${next === undefined ? "" : `, sending ${next}`}`);
    const hooks = createHooks({ onObserverError: () => {} });
    hooks.tap("test", "delivery", async (part) => {
      notes.push(`try at ${Math.round(now())}`);
      return { messageId: send(part) };
    });
    const account = () =>
      ({
        connection: { admit: options.admit },
        capabilities: { maxChars: 100, ...(options.repeats !== undefined && { repeats: options.repeats }) },
        options: { retry: options.retry },
      }) as unknown as LiveAccount;
    const closing = new AbortController();
    const trace = new Trace(now, (text) => text);
    const log = { info() {}, warn() {}, child: () => log } as unknown as Log;
    const contact = createContacts({ connection: () => ({}), log }).of;
    const deps = { hooks, now, random: () => 0.5, signal: closing.signal, account, contact, away: () => undefined };
    const rowOf = (id: number): OutboxRow => ({
      id,
      unitId: "0mihw1k2ab5x8y2n4q7c1d",
      index: id - 1,
      address: addressOf("7"),
      operation: "send",
      part: textPart("x"),
      state: "waiting",
      attempts: 0,
      doubts: 0,
    });
    return {
      notes,
      closing,
      trace,
      rowOf,
      codes: () => [...stored, ...trace.take()].map(({ code }) => code),
      deliver(given: number | readonly OutboxRow[], more: { readonly resumed?: true } = {}) {
        const rows = typeof given === "number" ? Array.from({ length: given }, (_, index) => rowOf(index + 1)) : given;
        const first = admission(rowOf(1), deps);
        return deliver(rows, {
          ...deps,
          store: { ...store, sent } as unknown as Store,
          trace,
          resumed: false,
          admission: first,
          ...more,
        });
      },
    };
  }

  const away = () => {
    throw new ChannelError("network", { retryable: true });
  };

  test("is marked as sending in the commit before it, but not while the platform's rate limits delay it", async () => {
    const waits: (Promise<void> | undefined)[] = [
      undefined,
      undefined,
      new Promise((resolve) => setTimeout(resolve, 3_000)),
    ];
    const { notes, trace, deliver } = station(() => "m", { admit: () => waits.shift() });
    const done = deliver(3);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(notes).toEqual(["try at 0", "sent 1, sending 2", "try at 0", "sent 2"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await done).toMatchObject({ last: { rowId: 3 } });
    expect(notes.slice(4)).toEqual(["sending 3", "try at 3000"]);
    expect(trace.take().find(({ code }) => code === "limits_waited")?.detail).toBe(
      "part 3 waited 3 s for the platform's limits",
    );
  });

  test("that waits when the gateway closes is left unchanged", async () => {
    const never = Promise.withResolvers<void>();
    const { notes, closing, deliver } = station(() => "m", { admit: () => never.promise });
    const done = deliver(1);
    closing.abort();
    never.resolve();
    expect(await done).toMatchObject({ interrupted: true });
    expect(notes).toEqual([]);
  });

  test("to an unreachable chat is neither attempted nor marked; other rows and removals are sent", async () => {
    let tries = 0;
    const { notes, rowOf, trace, deliver } = station(() => {
      tries += 1;
      if (tries === 1) throw new ChannelError("chat_not_found");
      return "m";
    });
    const elsewhere = { ...rowOf(2), address: addressOf("8") };
    const removal: OutboxRow = { ...rowOf(4), operation: "remove", part: textPart("", { replaces: "m1" }) };
    const done = await deliver([rowOf(1), elsewhere, rowOf(3), removal, rowOf(5)]);
    expect(done).toMatchObject({ failure: "chat_not_found", receipts: [{ messageId: "m" }], last: { rowId: 4 } });
    expect(notes).toEqual([
      ...["try at 0", "unsendable 1", "unsendable 3", "unsendable 5"],
      ...["sending 2", "try at 0", "sent 2, sending 4"],
    ]);
    const decisions = trace.take();
    expect(decisions.filter(({ code }) => code === "rest_not_tried").length).toBe(1);
    // It is what the log says about the end of the event.
    expect(trace.deciding("failed")?.code).toBe("chat_not_found");
  });

  test("that could not be sent is retried for a day, with waits that double up to maxDelayMs", async () => {
    const { notes, deliver } = station(away, { retry: { attempts: 3, minDelayMs: 100, maxDelayMs: 3_600_000 } });
    const done = deliver(1);
    await vi.advanceTimersByTimeAsync(25 * 3_600_000);
    expect(await done).toMatchObject({ failure: "network" });
    const tries = notes.filter((note) => note.startsWith("try")).map((note) => Number(note.slice("try at ".length)));
    expect(tries.slice(0, 5)).toEqual([0, 100, 300, 700, 1_500]);
    const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(waits.slice(-20)).toEqual(waits.slice(-20).map(() => 3_600_000));
    expect(tries.at(-1)).toBeGreaterThan(24 * 3_600_000);
    // Between two tries nobody need fear that it has arrived.
    expect(notes.slice(0, 4)).toEqual(["try at 0", "not sent 1", "sending 1", "try at 100"]);
  });

  test.each([
    ["a header that is a date, read as a number", Number.NaN],
    ["no time at all", 0],
    ["a time that has passed", -5_000],
    ["a time without end", Number.POSITIVE_INFINITY],
  ])("that is delayed by %s is retried at the account's own pace", async (_, retryAfterMs) => {
    const { notes, closing, deliver } = station(
      () => {
        throw new ChannelError("flood_wait", { retryable: true, retryAfterMs });
      },
      { retry: { attempts: 3, minDelayMs: 100, maxDelayMs: 3_600_000 } },
    );
    const done = deliver(1);
    await vi.advanceTimersByTimeAsync(1_400);
    closing.abort();
    await done;
    expect(notes.filter((note) => note.startsWith("try"))).toEqual([
      "try at 0",
      "try at 100",
      "try at 300",
      "try at 700",
    ]);
  });

  test("that is delayed for longer than a timer allows is retried after a day and then abandoned", async () => {
    const { notes, deliver } = station(() => {
      throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: 365 * 86_400_000 });
    });
    const done = deliver(1);
    await vi.advanceTimersByTimeAsync(49 * 3_600_000);
    expect(await done).toMatchObject({ failure: "flood_wait" });
    expect(notes.filter((note) => note.startsWith("try")).length).toBeLessThanOrEqual(3);
  });

  describe("on a platform that recognises a repetition by its key", () => {
    /** A platform that loses the answers to its first sends. */
    const cutting = (cuts: number, repeats: ChannelCapabilities["repeats"], more: object = {}) => {
      const keys: (string | undefined)[] = [];
      const made = station(
        ({ key }) => {
          keys.push(key);
          if (keys.length <= cuts) throw new ChannelError("network", { fate: "unknown", retryable: true });
          return "m";
        },
        { retry: { attempts: 3, minDelayMs: 1_000, maxDelayMs: 8_000 }, ...more, repeats },
      );
      return { ...made, keys };
    };

    test("is repeated at once with the same key, and nothing is in doubt", async () => {
      const { keys, notes, codes, rowOf, deliver } = cutting(1, "ever");
      expect(await deliver([rowOf(1), rowOf(2)])).toMatchObject({ last: { rowId: 2 } });
      expect(notes).toEqual(["try at 0", "sending 1", "try at 0", "sent 1, sending 2", "try at 0"]);
      expect(codes()).toEqual(["repeated_by_key", "sent", "sent"]);
      const [first, again, other] = keys;
      expect(first).toMatch(/^[a-z0-9]{20}$/);
      expect(again).toBe(first);
      expect(other).not.toBe(first);
    });

    test("is repeated for as long as the platform takes to answer, with one entry in the trace", async () => {
      const { keys, notes, codes, deliver } = cutting(4, "ever");
      const done = deliver(1);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await done).toMatchObject({ last: { rowId: 1 } });
      expect(notes.filter((note) => note.startsWith("try"))).toHaveLength(5);
      expect(new Set(keys).size).toBe(1);
      expect(codes().filter((code) => code === "repeated_by_key")).toHaveLength(1);
    });

    test("is in doubt like any other once the platform may have forgotten the key", async () => {
      const { notes, codes, deliver } = cutting(20, { withinSeconds: 5 });
      const done = deliver(1);
      await vi.advanceTimersByTimeAsync(300_000);
      expect(await done).toMatchObject({ failure: "send_fate_unknown" });
      // At 0 twice, after 1, 2 and 4 s; what follows is the one repetition that anything in doubt has.
      expect(notes.filter((note) => note === "doubted 1")).toHaveLength(1);
      expect(codes().filter((code) => code === "possibly_repeated")).toHaveLength(1);
    });

    test("is in doubt if the platform was away for longer than it remembers the key", async () => {
      let tries = 0;
      const { notes, deliver, codes } = station(
        () => {
          tries += 1;
          if (tries === 1) throw new ChannelError("network", { fate: "unknown", retryable: true });
          if (tries < 9) throw new ChannelError("network", { retryable: true });
          return "m";
        },
        { retry: { attempts: 3, minDelayMs: 2_000, maxDelayMs: 2_000 }, repeats: { withinSeconds: 5 } },
      );
      const done = deliver(1);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(await done).toMatchObject({ last: { rowId: 1 } });
      expect(codes()).toContain("possibly_repeated");
      // It may have arrived at the first attempt, so no later one makes it a row that has not been sent.
      expect(notes).not.toContain("not sent 1");
    });

    test("that an earlier process was sending is repeated by its key while the platform remembers it", async () => {
      const codesOf = async (sendingForMs: number | undefined, repeats: ChannelCapabilities["repeats"]) => {
        const { deliver, rowOf, codes } = cutting(0, repeats);
        const left = { ...rowOf(1), state: "sending" as const, ...(sendingForMs !== undefined && { sendingForMs }) };
        const done = deliver([left], { resumed: true });
        await vi.advanceTimersByTimeAsync(100_000);
        await done;
        return codes();
      };
      expect(await codesOf(4_000, { withinSeconds: 5 })).toEqual(["repeated_by_key", "sent"]);
      expect(await codesOf(6_000, { withinSeconds: 5 })).toContain("possibly_repeated");
      expect(await codesOf(9_000_000, "ever")).toEqual(["repeated_by_key", "sent"]);
      // Set back clocks, and rows of a version that sent without keys.
      expect(await codesOf(-1, { withinSeconds: 5 })).toContain("possibly_repeated");
      expect(await codesOf(undefined, "ever")).toContain("possibly_repeated");
    });
  });
});
