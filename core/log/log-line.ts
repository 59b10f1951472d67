/** Formats log lines for people. */
import { styleText } from "node:util";
import { onOneLine } from "./visible.ts";

const levelNames: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};
const levelStyles = { trace: "dim", debug: "dim", info: "cyan", warn: "yellow", error: "red", fatal: "red" } as const;

/**
 * Formats one line: day and time, level, message, then the fields. Control characters are escaped, because much of the
 * text comes from outside and a terminal would obey them.
 */
export function renderLogLine(json: string, options: { readonly colour: boolean }): string {
  const fields = JSON.parse(json) as Record<string, unknown>;
  const { level, time, msg, pid: _pid, hostname: _hostname, ...rest } = fields;
  const name = levelNames[Number(level)] ?? "info";
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    options.colour ? styleText(format, text) : text;
  const details = Object.entries(rest)
    .map(
      ([key, value]) =>
        `${style("dim", `${key}=`)}${onOneLine(typeof value === "string" ? value : JSON.stringify(value))}`,
    )
    .join(" ");
  const levelText = style(levelStyles[name as keyof typeof levelStyles] ?? "cyan", name.padEnd(5));
  return (
    `${style("dim", renderClock(Number(time)))} ${levelText} ` +
    `${onOneLine(String(msg ?? ""))}${details === "" ? "" : `  ${details}`}\n`
  );
}

/** Formats a time as `2026-11-20 14:03:12`, in local time. */
export function renderClock(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
