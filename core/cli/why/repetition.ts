/** Repeated deliveries of webhooks, for people. */
import { renderRepeated } from "../../reports/story.ts";
import type { Repeated } from "../../webhooks/endpoint/repetitions.ts";
import type { Terminal } from "../output/terminal.ts";

export function printRepetition(
  eventId: string,
  repeated: Repeated | undefined,
  { terminal, now }: { terminal: Terminal; now: number },
): void {
  const { style } = terminal;
  terminal.line(`${style("yellow", "repeated")} ${style("dim", "(the delivery arrived before)")}`);
  terminal.line();
  terminal.table(
    [
      ["event", eventId],
      ["again", renderRepeated(repeated, now) ?? ""],
    ].map(([name = "", text = ""]) => [style("dim", name), text]),
    { indent: "  " },
  );
  terminal.line();
  terminal.line(
    `  ${style("yellow", "✗")} accept  A delivery with the same id, or the same signed content, was ` +
      "accepted within seven days.",
  );
  terminal.line(
    `            ${style("dim", "to change")}  If equal deliveries are different events, let the sender ` +
      "sign a time or an id, or use a path for each kind of event.",
  );
}
