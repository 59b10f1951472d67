import { expect, test } from "vitest";
import { steadyHistory } from "../../../core/agents/conversation/history-window.ts";
import type { SessionMessage } from "../../../core/state/session.ts";

const turnAt = (index: number): readonly SessionMessage[] => [
  { role: "user", content: `q${index}`, at: index, unitId: `0mwxka2os1b4ljfr${index}` },
  { role: "assistant", content: `a${index}`, at: index, unitId: `0mwxka2os1b4ljfr${index}` },
];

test("a full history begins with the same turn for several turns and keeps three quarters of its limit", () => {
  const limit = 40;
  const begins: unknown[] = [];
  for (let last = limit; last < 400; last += 1) {
    const window = Array.from({ length: limit }, (_, index) => turnAt(last - limit + 1 + index)).flat();
    const kept = steadyHistory(window, limit);
    expect(kept[0]?.role).toBe("user");
    expect(kept.length).toBeGreaterThan((2 * limit * 3) / 4);
    expect(kept).toEqual(window.slice(-kept.length));
    begins.push(kept[0]?.content);
  }
  const changes = begins.filter((one, index) => index > 0 && one !== begins[index - 1]).length;
  // The mean distance is half of a quarter.
  expect(begins.length / changes).toBeGreaterThan(4);
});

test("a short conversation and one with a small limit are kept whole", () => {
  const short = [1, 2, 3].flatMap(turnAt);
  expect(steadyHistory(short, 40)).toBe(short);
  expect(steadyHistory(short, 3)).toBe(short);
});
