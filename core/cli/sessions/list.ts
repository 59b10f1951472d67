/** `sessions list`: the conversations, most recently used first. */
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import { readSessions } from "../../reports/sessions.ts";
import type { SessionReport } from "../../state/report.ts";
import type { CommandContext } from "../context.ts";
import { renderAgo } from "../output/times.ts";

const mostAtOnce = 1_000;

export async function listSessions(
  context: CommandContext,
  _: readonly [],
  { limit, json }: { readonly limit: number; readonly json?: boolean },
): Promise<number> {
  if (limit < 1 || limit > mostAtOnce)
    throw new HostError("usage", { reason: `--limit must be from 1 to ${mostAtOnce}` });
  const store = await context.openState();
  try {
    const sessions = await readSessions(store, limit);
    if (json === true) context.terminal.json({ sessions });
    else show(sessions, context);
    return 0;
  } finally {
    await store.close();
  }
}

function show(sessions: readonly SessionReport[], { terminal, now }: CommandContext): void {
  const { style } = terminal;
  if (sessions.length === 0) {
    terminal.line("No conversation is stored yet. A webhook run stores one when it has a sessionKey.");
    return;
  }
  terminal.table([
    ["used", "session", "agent", "messages", "set"].map((cell) => style("dim", cell)),
    ...sessions.map((session) => [
      renderAgo(session.updatedAt, now()),
      visibleLine(session.key, 100),
      visibleLine(session.agentId ?? "", 40),
      String(session.messages),
      visibleLine(settingsOf(session), 80),
    ]),
  ]);
}

/** What commands such as `/model` have set: `model acme/large, thinking low`. */
export function settingsOf({ settings }: SessionReport): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
