/**
 * Heartbeats: turns of the main session that no user message started. A timer accepts ticks. Wakes, hook summaries and
 * ticks gather under one key, and a unit of such events becomes one turn.
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  type AgentsView,
  agentIds,
  agentSettings,
  defaultAgentId,
  knownAgentId,
  parseDuration,
} from "../../config/index.ts";
import { type Authority, type Inbound, type RawEvent, reasonOf } from "../../contract/index.ts";
import { readInside } from "../../media/workspace-file.ts";
import type { PluginLog } from "../../sdk/contract.ts";
import type { StoredEvent } from "../../state/index.ts";
import type { Visit } from "../../stations/index.ts";
import { renderTime } from "../conversation/envelope.ts";
import { cut, eventText, renderQueued } from "../conversation/queued-events.ts";
import { agentOfKey, mainSessionKey } from "../conversation/sessions.ts";
import { noteSummarized } from "../conversation/summarized-replies.ts";
import { heartbeatSession, tickEvent } from "../conversation/system-events.ts";
import { isActive } from "./active-hours.ts";

const maxNotesChars = 32_000;
/** Larger notes are read up to this size. */
const maxNotesBytes = 262_144;
/** Timers hold 31 bits, so longer waits are split. */
const maxTimerMs = 2_000_000_000;

const defaultPrompt =
  "This is a heartbeat. No person wrote to you. Read the notes and events below, act on them, and report " +
  "what people should know. If nothing needs attention, answer HEARTBEAT_OK.";

export interface HeartbeatContext {
  readonly visit: Visit;
  readonly config: AgentsView;
  /** The configuration's directory, to which a relative workspace path is resolved. */
  readonly directory: string;
  readonly log: Pick<PluginLog, "warn">;
}

/** A unit of several events has the authority of the least trusted one. */
function leastAuthority(events: readonly StoredEvent[]): Authority {
  if (events.some((event) => event.authority === "hook")) return "hook";
  return events.some((event) => event.authority === "channel") ? "channel" : "operator";
}

/** The notes in `HEARTBEAT.md`; empty when there are none, or only headings and comments. */
async function readNotes(
  workspace: string | undefined,
  { directory, log }: Pick<HeartbeatContext, "directory" | "log">,
): Promise<string> {
  if (workspace === undefined) return "";
  const folder =
    workspace === "~" || workspace.startsWith("~/")
      ? join(homedir(), workspace.slice(1))
      : resolve(directory, workspace);
  const file = join(folder, "HEARTBEAT.md");
  const text = await readInside(folder, file, maxNotesBytes).catch((error: unknown) => {
    log.warn({ file, error: reasonOf(error) }, "the notes of a heartbeat are left out: their file cannot be read");
  });
  if (text === undefined) return "";
  const rest = text.replace(/<!--[\s\S]*?(?:-->|$)/g, "").replace(/^\s*(?:#.*|[-*+]\s*(?:\[ \])?\s*)$/gm, "");
  return rest.trim() === "" ? "" : cut(text.trim(), maxNotesChars);
}

/**
 * For the `ingress` station: turns gathered system events into a message. `null` when there is nothing to do, so that
 * no model is called; `undefined` for other events.
 */
export function parseHeartbeat(
  events: readonly StoredEvent[],
  context: HeartbeatContext,
): Promise<Inbound | null> | undefined {
  const leader = events[0];
  const sessionKey = heartbeatSession(leader?.gather?.key);
  return leader === undefined || sessionKey === undefined
    ? undefined
    : readHeartbeat({ leader, sessionKey, events }, context);
}

async function readHeartbeat(
  {
    leader,
    sessionKey,
    events,
  }: { readonly leader: StoredEvent; readonly sessionKey: string; readonly events: readonly StoredEvent[] },
  context: HeartbeatContext,
): Promise<Inbound | null> {
  const agent = agentSettings(context.config, knownAgentId(context.config, agentOfKey(sessionKey)));
  const withText = events.filter((event) => eventText(event) !== "");
  const notes = await readNotes(agent.workspace, context);
  if (withText.length === 0 && notes === "") return null;
  noteSummarized(events, context.visit, { hasNotes: notes !== "" });
  const at = events.at(-1)?.acceptedAt ?? leader.acceptedAt;
  const target = agent.heartbeat.target ?? "last";
  const blocks = [
    `[heartbeat ${renderTime(at)}] ${agent.heartbeat.prompt ?? defaultPrompt}`,
    notes === "" ? "" : `HEARTBEAT.md:\n\n${notes}`,
    renderQueued(withText, { leftOut: leader.leftOut }),
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
      to: agent.heartbeat.to,
      heartbeat: { events: withText.map(eventText), scheduled: events.every((event) => event.source === "heartbeat") },
    },
  };
}

export interface Heartbeat {
  start(): void;
  /** Applies changed settings. A timer with an unchanged interval keeps running. */
  reload(): void;
  /** Stops all timers. Idempotent. */
  close(): void;
}

interface Armed {
  readonly everyMs: number;
  readonly due: number;
  readonly timer: NodeJS.Timeout;
}

export function createHeartbeat(options: {
  readonly config: () => AgentsView;
  /** Whether events wait for the next turn of an agent's main session. */
  readonly waits: (sessionKey: string) => Promise<boolean>;
  readonly accept: (event: RawEvent) => Promise<unknown>;
  /** Whether this gateway is the one that accepts ticks. */
  readonly isDuty: () => boolean | Promise<boolean>;
  readonly now: () => number;
  readonly log: Pick<PluginLog, "debug" | "warn">;
}): Heartbeat {
  const { config, waits, accept, isDuty, now, log } = options;
  const armed = new Map<string, Armed>();
  let running = false;

  /** Includes every agent: hook runs leave summaries for agents without heartbeat settings, too. */
  function wanted(): ReadonlyMap<string, number> {
    const view = config();
    const pairs = agentIds(view).map(
      (id) => [id, parseDuration(agentSettings(view, id).heartbeat.every ?? "30m") ?? 0] as const,
    );
    return new Map(pairs.filter(([, everyMs]) => everyMs > 0));
  }

  /** Heartbeat notes are read for the default agent and for every agent with heartbeat settings of its own. */
  function looksAtNotes(agentId: string): boolean {
    const view = config();
    return (
      agentId === defaultAgentId(view) || view.agents?.list?.find(({ id }) => id === agentId)?.heartbeat !== undefined
    );
  }

  function active(agentId: string): boolean {
    try {
      return isActive(now(), agentSettings(config(), agentId).heartbeat.activeHours);
    } catch (thrown) {
      // A time zone that this runtime does not know must not stop the heartbeat silently.
      log.warn(
        { agent: agentId, reason: reasonOf(thrown) },
        "heartbeat.activeHours.timezone is unknown and is ignored",
      );
      return true;
    }
  }

  async function ask(agentId: string): Promise<void> {
    const sessionKey = mainSessionKey(agentId);
    if (!(await isDuty())) return;
    if (looksAtNotes(agentId) || (await waits(sessionKey))) await accept(tickEvent(sessionKey, now()));
  }

  function tick(agentId: string): void {
    if (!active(agentId)) {
      log.debug({ agent: agentId }, "heartbeat outside its active hours");
      return;
    }
    ask(agentId).catch((thrown: unknown) =>
      log.warn({ agent: agentId, reason: reasonOf(thrown) }, "a heartbeat could not be stored"),
    );
  }

  function arm(agentId: string, everyMs: number, due: number): void {
    const wait = Math.min(Math.max(due - now(), 0), maxTimerMs);
    const timer = setTimeout(() => {
      // A due time further away than one interval means that the clock was set back, so the heartbeat is due now.
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
