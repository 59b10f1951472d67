/** `hooks show`: one delivery from its arrival to its end. */

import { parseExactJson } from "../../contract/exact-json.ts";
import type { TurnRequest } from "../../contract/types.ts";
import { visible, visibleLine } from "../../log/visible.ts";
import { printDecisions, renderHeadline } from "../../reports/decisions.ts";
import type { Delivery } from "../../reports/deliveries.ts";
import { renderRepeated } from "../../reports/story.ts";
import type { StoredDelivery } from "../../webhooks/mapping/run-events.ts";
import { describeAccess } from "../../webhooks/mapping/stored-hook.ts";
import type { CommandContext } from "../context.ts";
import type { Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";
import { requireDelivery } from "./require-delivery.ts";

/** Lines shown of a payload or a message; `--json` prints all of them. */
const mostLines = 60;

export async function showDelivery(
  context: CommandContext,
  [wanted]: readonly [string],
  options: { readonly json?: boolean },
): Promise<number> {
  const store = await context.openState();
  try {
    const found = await requireDelivery(store, wanted);
    const { report, stored, repeated } = found;
    if (options.json === true)
      context.terminal.json({ ...report, ...stored, ...(repeated === undefined ? {} : { repeated }) });
    else show(found, context);
    return 0;
  } finally {
    await store.close();
  }
}

function show({ report, stored, repeated }: Delivery, { terminal, now }: CommandContext): void {
  const { style } = terminal;
  terminal.line(renderHeadline(report, now(), style));
  terminal.line();
  const facts: (readonly [string, string | undefined])[] = [
    ["delivery", report.id],
    ["hook", stored.mapped ? `${visibleLine(stored.hook)} (${report.kind})` : report.kind],
    ["path", stored.delivery === undefined ? undefined : visibleLine(stored.delivery.path)],
    ["method", stored.delivery?.method],
    ["let in by", describeAccess(stored)],
    ["when", `${renderClock(report.acceptedAt)} (${renderAgo(report.acceptedAt, now())})`],
    ["agent", report.agentId],
    ["session", report.sessionKey === undefined ? undefined : visibleLine(report.sessionKey)],
    ["attempts", report.attempts > 1 ? String(report.attempts) : undefined],
    ["again", renderRepeated(repeated, now())],
  ];
  terminal.table(
    facts.flatMap(([name, value]) => (value === undefined ? [] : [[style("dim", name), value]])),
    { indent: "  " },
  );
  if (stored.delivery !== undefined) showRequest(stored.delivery, terminal);
  if (stored.request !== undefined) pairs("asked for", fieldsOf(stored.request), terminal);
  if (stored.text !== undefined) block("message", stored.text, terminal);
  terminal.line();
  terminal.line(style("bold", "decisions"));
  printDecisions(report, terminal);
  if (report.reply !== undefined) block("reply", report.reply, terminal);
}

function showRequest({ method, headers, query, body, kind }: StoredDelivery, terminal: Terminal): void {
  pairs("headers", Object.entries(headers), terminal);
  pairs("query", Object.entries(query), terminal);
  // The payload is the query.
  if (method === "GET") return;
  block(`payload (${kind}, ${Buffer.byteLength(body)} bytes)`, kind === "json" ? indentedJson(body) : body, terminal);
}

function indentedJson(body: string): string {
  try {
    return JSON.stringify(parseExactJson(body), null, 2);
  } catch {
    return body;
  }
}

function fieldsOf(request: TurnRequest): readonly (readonly [string, string])[] {
  return Object.entries(request).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

function pairs(title: string, values: readonly (readonly [string, string])[], terminal: Terminal): void {
  if (values.length === 0) return;
  terminal.line();
  terminal.line(terminal.style("bold", title));
  terminal.table(
    values.map(([name, value]) => [terminal.style("dim", visibleLine(name, 60)), visibleLine(value)]),
    { indent: "  " },
  );
}

function block(title: string, text: string, terminal: Terminal): void {
  terminal.line();
  terminal.line(terminal.style("bold", title));
  const lines = visible(text).split("\n");
  for (const line of lines.slice(0, mostLines)) terminal.line(`  ${line}`);
  if (lines.length > mostLines)
    terminal.line(terminal.style("dim", `  ... ${lines.length - mostLines} more lines; --json shows all`));
}
