import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { Decision } from "../../../core/contract/types.ts";
import { createEndedLine } from "../../../core/path/endings/ended.ts";
import type { Ending, Unit } from "../../../core/state/store.ts";
import { message } from "../agents/inbound.ts";

const minute = 60_000;

function unit(lane: string): Unit {
  const event = {
    id: "e",
    sequence: 1,
    acceptedAt: 0,
    attempts: 1,
    source: "chat",
    kind: "update",
    lane,
    authority: "channel",
    body: null,
  } as const;
  return { id: "e", lane, events: [event], attempts: 1, stage: "turn" };
}

function createLines() {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: "debug", base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const tell = createEndedLine(log);
  return {
    lines,
    ended: (lane: string, end: Ending, at: number, deciding?: Partial<Decision>, chat?: string) =>
      tell({
        unit: unit(lane),
        inbound: chat === undefined ? undefined : message("", { chat: { id: chat, kind: "group" } }),
        end,
        at,
        ms: 5,
        deciding:
          deciding === undefined
            ? undefined
            : { at, station: "gating", plugin: "core", verdict: "refused", code: end.reason, ...deciding },
      }),
  };
}

const stranger: Ending = { outcome: "refused", reason: "sender_not_allowed" };
const info = 30;
const debug = 20;

describe("the log line at the end of an event", () => {
  test("gives the decision, its source and what to change", () => {
    const { lines, ended } = createLines();
    ended("a", stranger, 0, {
      detail: "Sender 7 is not in the allowlist.",
      path: "channels.chat.allowFrom",
      hint: "Add it.",
    });
    expect(lines).toMatchObject([
      {
        level: info,
        msg: "event ended",
        outcome: "refused",
        reason: "sender_not_allowed",
        detail: "Sender 7 is not in the allowlist.",
        path: "channels.chat.allowFrom",
        hint: "Add it.",
      },
    ]);
  });

  test("reports a refusal once per chat, reason and hour, and repetitions at debug level", () => {
    const { lines, ended } = createLines();
    ended("a", stranger, 0, {});
    ended("a", stranger, 59 * minute, {});
    ended("b", stranger, 59 * minute, {});
    ended("a", { outcome: "silent", reason: "mention_required" }, 59 * minute, { verdict: "silent" });
    ended("a", stranger, 60 * minute, {});
    expect(lines.map(({ level }) => level)).toEqual([info, debug, info, info, info]);
  });

  test("treats the topics and control commands of a chat as one chat, and reports a refusal once", () => {
    const { lines, ended } = createLines();
    for (const lane of ["chat:default:-5", "chat:default:-5:1", "chat:default:-5:2", "chat:default:-5!"])
      ended(lane, stranger, 0, {}, "-5");
    ended("chat:default:-6", stranger, 0, {}, "-6");
    expect(lines.map(({ level }) => level)).toEqual([info, debug, debug, debug, info]);
  });

  test("reports every reply and every failure", () => {
    const { lines, ended } = createLines();
    for (const at of [0, 1]) {
      ended("a", { outcome: "answered", reason: "answered" }, at);
      ended("a", { outcome: "failed", reason: "engine_error" }, at, { station: "turn", verdict: "failed" });
    }
    expect(lines.map(({ level }) => level)).toEqual([info, 40, info, 40]);
  });
});
