/** `sessions show`: what was said in one conversation. */
import { messageText } from "../../agents/conversation/transcript.ts";
import { HostError } from "../../contract/errors.ts";
import { visible, visibleLine } from "../../log/visible.ts";
import { readShown, type ShownSession, shownData, withAgent } from "../../reports/sessions.ts";
import type { SessionReport } from "../../state/report.ts";
import type { SessionMessage, SessionSummary } from "../../state/session.ts";
import type { CommandContext } from "../context.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";
import { findSession } from "./find.ts";
import { settingsOf } from "./list.ts";

interface Options {
  readonly limit: number;
  readonly generation?: number;
  readonly json?: boolean;
}

export async function showSession(
  context: CommandContext,
  [wanted]: readonly [string],
  options: Options,
): Promise<number> {
  const store = await context.openState();
  try {
    const session = withAgent(await findSession(store, wanted));
    const generation = options.generation ?? session.generation;
    if (generation > session.generation) throw new HostError("usage", { reason: lastGeneration(session) });
    const shown = await readShown(store, session, { generation, limit: options.limit });
    if (options.json === true) context.terminal.json(shownData(shown));
    else show(shown, context);
    return 0;
  } finally {
    await store.close();
  }
}

const lastGeneration = ({ key, generation }: SessionReport): string =>
  generation === 0 ? `${key} has one conversation, number 0` : `${key} has the conversations 0 to ${generation}`;

function show(
  { session, generation, transcript, count, ...covered }: ShownSession,
  { terminal, now }: CommandContext,
): void {
  const { style } = terminal;
  const { lastRecipient: to } = session;
  terminal.line(style("bold", visibleLine(session.key)));
  terminal.line();
  const facts: (readonly [string, string | undefined])[] = [
    ["agent", session.agentId],
    ["used", `${renderClock(session.updatedAt)} (${renderAgo(session.updatedAt, now())})`],
    ["set", settingsOf(session)],
    [
      "last recipient",
      to &&
        `${to.channel}, account ${to.account}, chat ` +
          `${to.chat}${to.thread === undefined ? "" : `, thread ${to.thread}`}`,
    ],
    ["generation", session.generation === 0 ? undefined : `${generation} of 0 to ${session.generation}`],
  ];
  terminal.table(
    facts.flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[style("dim", name), visibleLine(value, 500)]],
    ),
    { indent: "  " },
  );
  terminal.line();
  printSummaries(covered.summaries, terminal);
  if (transcript.length === 0) terminal.line("Nothing has been said in this conversation yet.");
  if (count > transcript.length)
    terminal.line(style("dim", `${count - transcript.length} older messages; --limit 0 shows all`));
  const boundary = covered.summaries.length === 0 ? 0 : transcript.length - covered.uncovered;
  for (const [index, message] of transcript.entries()) {
    if (index === boundary && index > 0)
      terminal.line(
        style("dim", "-- the messages above are summarized; the model reads the summary and those below --"),
      );
    printMessage(message, terminal);
  }
}

function printSummaries(summaries: readonly SessionSummary[], { line, style }: Terminal): void {
  for (const { messages, model, at, text } of summaries) {
    line(
      `${style("dim", renderClock(at))}  ${style("bold", `summary of ${messages} messages by ${visibleLine(model)}`)}`,
    );
    for (const one of visible(text).split("\n")) line(`  ${one}`);
  }
  if (summaries.length > 0) line();
}

const roleStyles: Readonly<Record<SessionMessage["role"], Style>> = { user: "cyan", assistant: "green", system: "dim" };

function printMessage(message: SessionMessage, { line, style }: Terminal): void {
  const event = message.unitId === undefined ? "" : style("dim", `  ${message.unitId}`);
  line(`${style("dim", renderClock(message.at))}  ${style(roleStyles[message.role], message.role)}${event}`);
  for (const text of visible(messageText(message.content)).split("\n")) line(`  ${text}`);
}
