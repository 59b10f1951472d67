/** Prints the doctor's findings, for people and for programs. */
import { programCommand } from "../../contract/command.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import type { Finding, Repair } from "./finding.ts";

export interface Mended {
  readonly done: boolean;
  /** Why the repair failed. */
  readonly reason?: string;
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly mended: ReadonlyMap<Repair, Mended>;
  /** A copy of the configuration file before the first edit. */
  readonly backup: string | undefined;
  readonly json: boolean;
  readonly dryRun: boolean;
}

const marks: Readonly<Record<Finding["verdict"], readonly [string, Style]>> = {
  ok: ["✓", "green"],
  warn: ["!", "yellow"],
  fail: ["✗", "red"],
};

export function showFindings(terminal: Terminal, report: Report): void {
  if (report.json) terminal.json(asJson(report));
  else printFindings(terminal, report);
}

function printFindings(terminal: Terminal, report: Report): void {
  const { style } = terminal;
  const { findings, mended, backup, dryRun } = report;
  const rows = findings.flatMap(({ check, verdict, reason, fix, repair }) => {
    const done = repair && mended.get(repair);
    const [mark, color] = marks[done?.done === true ? "ok" : verdict];
    return [
      [style(color, mark), style("bold", check), reason],
      ...(fix === undefined || done?.done === true ? [] : [["", "", `${style("dim", "to do")}  ${fix}`]]),
      ...(repair === undefined ? [] : [["", "", repairLine(repair, { done, dryRun, style })]]),
    ];
  });
  terminal.table(rows);
  terminal.line();
  terminal.line(summary(report));
  if (backup !== undefined) terminal.line(`The previous configuration is saved in ${backup}`);
}

function repairLine(
  { what }: Repair,
  {
    done,
    dryRun,
    style,
  }: { readonly done: Mended | undefined; readonly dryRun: boolean; readonly style: Terminal["style"] },
): string {
  if (done?.done === true) return `${style("green", "done")}   ${what}`;
  if (done !== undefined) return `${style("red", "failed")} ${what}: ${done.reason ?? "unknown reason"}`;
  return `${style("dim", dryRun ? "would" : "--fix")}  ${what}`;
}

function summary({ findings, mended }: Report): string {
  const open = findings.filter(({ repair }) => !(repair && mended.get(repair)?.done));
  const wrong = open.filter(({ verdict }) => verdict === "fail").length;
  const doubtful = open.filter(({ verdict }) => verdict === "warn").length;
  if (wrong + doubtful === 0) return "All is well.";
  const mendable = open.filter(({ repair }) => repair !== undefined && !mended.has(repair)).length;
  const counts = [...(wrong > 0 ? [`${wrong} wrong`] : []), ...(doubtful > 0 ? [`${doubtful} to look at`] : [])].join(
    ", ",
  );
  return `${counts}.${mendable > 0 ? ` \`${programCommand} doctor --fix\` fixes ${mendable} of them.` : ""}`;
}

function asJson({ findings, mended, backup }: Report): object {
  return {
    ok: !findings.some(({ verdict, repair }) => verdict === "fail" && !(repair && mended.get(repair)?.done)),
    backup,
    findings: findings.map(({ repair, ...finding }) => {
      const done = repair && mended.get(repair);
      return {
        ...finding,
        ...(repair === undefined ? {} : { repair: repair.what }),
        ...(done === undefined ? {} : { mended: done.done, failure: done.reason }),
      };
    }),
  };
}
