/**
 * Heartbeats: turns of the main session that nobody wrote a message for. A timer accepts ticks; wakes, hook
 * summaries and ticks gather under one key, and one unit of them becomes one turn.
 */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { reasonOf } from "../errors.ts";
import type { PluginLog } from "../sdk.ts";
import type { StoredEvent } from "../state/store.ts";
import type { Authority, Inbound, RawEvent } from "../types.ts";
import { wrapExternal } from "../webhooks/external.ts";
import { isActive, parseDuration } from "./duration.ts";
import { defuseLines, renderTime } from "./envelope.ts";
import { agentOfKey, mainSessionKey } from "./sessions.ts";
import { type AgentsView, agentSettings, defaultAgentId, knownAgentId } from "./settings.ts";
import { heartbeatSession, tickEvent } from "./system-events.ts";

const maxNotesChars = 32_000;
/** The store bounds the events of a turn together; one that is longer than that by itself is cut. */
const maxEventChars = 20_000;
/** Longer waits are cut in pieces: a timer holds 31 bits. */
const maxTimerMs = 2_000_000_000;

const defaultPrompt =
  "This is a heartbeat: no person wrote. Look at the notes and events below, do what they call for, and say what people should know. When nothing needs attention, answer with HEARTBEAT_OK.";

export interface HeartbeatContext {
  readonly config: AgentsView;
  /** Directory that a relative workspace is meant from: the configuration's. */
  readonly directory: string;
}

function cut(text: string, max: number): string {
  const characters = text.length > max ? [...text] : [];
  return characters.length > max ? `${characters.slice(0, max).join("")}… [cut: ${characters.length} characters]` : text;
}

function eventText(event: StoredEvent): string {
  const body = event.body as { readonly text?: unknown } | null;
  return typeof body?.text === "string" ? body.text.trim() : "";
}

/** What came over HTTP is wrapped, unless its mapping says that it need not be. */
function isForeign({ authority, body }: StoredEvent): boolean {
  return authority === "hook" && (body as { readonly unwrapped?: unknown } | null)?.unwrapped !== true;
}

/** What an event may do is what its weakest cause may do. */
function leastAuthority(events: readonly StoredEvent[]): Authority {
  if (events.some((event) => event.authority === "hook")) return "hook";
  return events.some((event) => event.authority === "channel") ? "channel" : "operator";
}

/** Notes of the workspace; empty when there are none, or nothing but headings and comments. */
async function readNotes(workspace: string | undefined, directory: string): Promise<string> {
  if (workspace === undefined) return "";
  const folder = workspace === "~" || workspace.startsWith("~/") ? join(homedir(), workspace.slice(1)) : resolve(directory, workspace);
  const text = await readFile(join(folder, "HEARTBEAT.md"), "utf8").catch(() => "");
  const rest = text.replace(/<!--[\s\S]*?(?:-->|$)/g, "").replace(/^\s*(?:#.*|[-*+]\s*(?:\[ \])?\s*)$/gm, "");
  return rest.trim() === "" ? "" : cut(text.trim(), maxNotesChars);
}

function renderEvents(events: readonly StoredEvent[], context: HeartbeatContext & { readonly leftOut: number }): string {
  const { leftOut } = context;
  const items = events.map((event, index) => {
    const text = cut(eventText(event), maxEventChars);
    const shown = isForeign(event) ? wrapExternal({ text, source: event.source }) : defuseLines(text);
    return `${index + 1}. ${renderTime(event.acceptedAt)}, ${event.kind}:\n${shown}`;
  });
  if (leftOut > 0) items.unshift(`${leftOut} earlier ${leftOut === 1 ? "event was" : "events were"} left out.`);
  return items.length === 0 ? "" : `Events since the last heartbeat, oldest first:\n\n${items.join("\n\n")}`;
}

/**
 * For the `ingress` station: the turn of gathered system events; `null` when there is nothing to do, so that no
 * model is called; `undefined` for what is no heartbeat.
 */
export function parseHeartbeat(events: readonly StoredEvent[], context: HeartbeatContext): Promise<Inbound | null> | undefined {
  const leader = events[0];
  const sessionKey = heartbeatSession(leader?.gather?.key);
  return leader === undefined || sessionKey === undefined ? undefined : readHeartbeat({ leader, sessionKey, events }, context);
}

async function readHeartbeat(
  { leader, sessionKey, events }: { readonly leader: StoredEvent; readonly sessionKey: string; readonly events: readonly StoredEvent[] },
  context: HeartbeatContext,
): Promise<Inbound | null> {
  const agent = agentSettings(context.config, knownAgentId(context.config, agentOfKey(sessionKey)));
  const told = events.filter((event) => eventText(event) !== "");
  const notes = await readNotes(agent.workspace, context.directory);
  if (told.length === 0 && notes === "") return null;
  const at = events.at(-1)?.acceptedAt ?? leader.acceptedAt;
  const target = agent.heartbeat.target ?? "last";
  const blocks = [
    `[heartbeat ${renderTime(at)}] ${agent.heartbeat.prompt ?? defaultPrompt}`,
    notes === "" ? "" : `HEARTBEAT.md:\n\n${notes}`,
    renderEvents(told, { ...context, leftOut: leader.leftOut ?? 0 }),
  ];
  return {
    id: leader.id,
    channel: "heartbeat",
    account: "",
    kind: "system",
    chat: { id: sessionKey, kind: "system" },
    sender: { id: "heartbeat" },
    text: blocks.filter((block) => block !== "").join("\n\n"),
    media: [],
    mention: true,
    timestamp: at,
    authority: leastAuthority(events),
    request: {
      agentId: agent.id,
      sessionKey,
      sessionMode: "persistent",
      deliver: target !== "none",
      ...(target === "none" ? {} : { channel: target }),
      ...(agent.heartbeat.to === undefined ? {} : { to: agent.heartbeat.to }),
      heartbeat: { events: told.map(eventText), scheduled: events.every((event) => event.source === "heartbeat") },
    },
  };
}

export interface Heartbeat {
  start(): void;
  /** Takes up changed settings; a timer whose interval is the same goes on. */
  reload(): void;
  /** Idempotent; leaves no timer. */
  close(): void;
}

interface Armed {
  readonly everyMs: number;
  readonly due: number;
  readonly timer: NodeJS.Timeout;
}

export function createHeartbeat(options: {
  readonly config: () => AgentsView;
  readonly accept: (event: RawEvent) => Promise<unknown>;
  readonly now: () => number;
  readonly log: Pick<PluginLog, "debug" | "warn">;
}): Heartbeat {
  const { config, accept, now, log } = options;
  const armed = new Map<string, Armed>();
  let running = false;

  /** The default agent, and every other that has heartbeat settings of its own. */
  function wanted(): ReadonlyMap<string, number> {
    const view = config();
    const own = (view.agents?.list ?? []).filter((agent) => agent.heartbeat !== undefined).map((agent) => agent.id);
    const ids = new Set([defaultAgentId(view), ...own]);
    const pairs = [...ids].map((id) => [id, parseDuration(agentSettings(view, id).heartbeat.every ?? "30m") ?? 0] as const);
    return new Map(pairs.filter(([, everyMs]) => everyMs > 0));
  }

  function active(agentId: string): boolean {
    try {
      return isActive(now(), agentSettings(config(), agentId).heartbeat.activeHours);
    } catch (thrown) {
      // A zone that this runtime does not know must not stop the heartbeat without a word.
      log.warn({ agent: agentId, reason: reasonOf(thrown) }, "heartbeat.activeHours.timezone is not known; it is left out of account");
      return true;
    }
  }

  function tick(agentId: string): void {
    if (!active(agentId)) {
      log.debug({ agent: agentId }, "heartbeat outside its active hours");
      return;
    }
    const event = tickEvent(mainSessionKey(agentId), now());
    accept(event).catch((thrown: unknown) => log.warn({ agent: agentId, reason: reasonOf(thrown) }, "a heartbeat could not be stored"));
  }

  function arm(agentId: string, everyMs: number, due: number): void {
    const wait = Math.min(Math.max(due - now(), 0), maxTimerMs);
    const timer = setTimeout(() => {
      // One that is further away than any heartbeat is late: the clock was set back.
      if (now() < due && due - now() <= everyMs) return arm(agentId, everyMs, due);
      tick(agentId);
      arm(agentId, everyMs, now() + everyMs);
    }, wait);
    armed.set(agentId, { everyMs, due, timer });
  }

  function apply(next: ReadonlyMap<string, number>): void {
    for (const [agentId, { everyMs, timer }] of armed) {
      if (next.get(agentId) === everyMs) continue;
      clearTimeout(timer);
      armed.delete(agentId);
    }
    for (const [agentId, everyMs] of next) if (!armed.has(agentId)) arm(agentId, everyMs, now() + everyMs);
  }

  return {
    start() {
      running = true;
      apply(wanted());
    },
    reload() {
      if (running) apply(wanted());
    },
    close() {
      running = false;
      apply(new Map());
    },
  };
}
