import { expect, test } from "vitest";
import type { Terminal } from "../../../core/cli/output/terminal.ts";
import { printDecisions } from "../../../core/reports/decisions.ts";
import type { EventReport } from "../../../core/state/report.ts";

test("a wake that waits for a turn names that turn, and other events say that nothing is decided yet", () => {
  const lines: string[] = [];
  const terminal = {
    line: (text = "") => void lines.push(text),
    style: (_: string, text: string) => text,
  } as unknown as Terminal;
  const report: EventReport = {
    id: "e",
    source: "hooks",
    kind: "wake",
    lane: "agent:main:main",
    acceptedAt: 0,
    state: "waiting",
    attempts: 0,
    decisions: [],
  };
  printDecisions(report, terminal);
  printDecisions({ ...report, kind: "agent", lane: "hook:1" }, terminal);
  expect(lines).toEqual([
    "  It waits for the next turn of agent:main:main, which a heartbeat or a person's message starts.",
    "  No station has decided anything yet.",
  ]);
  lines.length = 0;
  const decisions = [{ station: "turn", verdict: "silent", code: "delivered_already", plugin: "core", at: 0 } as const];
  printDecisions({ ...report, kind: "summary", decisions }, terminal);
  expect(lines.at(-1), "also after a heartbeat that did not read it").toMatch(/^ {2}It waits for the next turn of /);
});
