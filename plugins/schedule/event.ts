/** The event of a planned run, and what the agent or the chat gets of it. */
import { escapeMarkdown, type Inbound, type Json, type PluginHost, type RawEvent } from "service-gateway/sdk";
import type { ScheduleCode } from "./codes.ts";
import { type Plan, type StoredPlan, titleOf } from "./plan.ts";
import type { Schedules } from "./section.ts";
import { sayDuration, sayTime } from "./wording.ts";

export const source = "schedule";

/** What an event carries: the plan as it was when the run was due, because it may change before the run begins. */
interface RunBody {
  readonly plan: Plan;
  readonly planned: number;
  /** How late the run begins, in milliseconds, if the gateway was not running at the planned time. */
  readonly lateMs?: number;
  /** The run does not take place: only its trace is kept. */
  readonly skipped?: { readonly code: ScheduleCode; readonly detail: string };
  /** Sent in place of the message, without a turn. */
  readonly notice?: string;
  /** Who set the reminder, where `service privacy` looks for people. */
  readonly by?: { readonly channel: string; readonly senderId: string };
}

type StoredEvent = Parameters<Parameters<PluginHost["tap"]>[1]>[0] &
  RawEvent & { readonly id: string; readonly acceptedAt: number };

export interface Run extends Omit<RunBody, "plan" | "by"> {
  /** Distinguishes runs of one planned time. Absent for the planned run, of which there is one. */
  readonly by?: string;
}

/** Two events of one planned time are one: neither a restart nor a second gateway repeats a run. */
export function runEvent(plan: Plan, { by, ...run }: Run): RawEvent {
  const isNotice = run.notice !== undefined || plan.kind === "say";
  const { asker, to } = plan;
  const person = asker !== undefined && to !== undefined && { by: { channel: to.channel, senderId: asker.id } };
  return {
    source,
    kind: run.notice === undefined ? plan.kind : "notice",
    ...laneOf(plan, { isTraced: run.skipped !== undefined, isNotice }),
    // A person's access is checked when the reminder is due, as for a message of that person.
    authority: plan.asker === undefined ? "operator" : "channel",
    dedupeKey: `${plan.key}:${by ?? run.planned}`,
    body: { plan, ...run, ...person } as unknown as Json,
  };
}

/**
 * A text that is sent needs no model, so it waits for no turn. Texts to one chat keep their order. What is only noted
 * does not wait for the run before.
 */
function laneOf(
  { key, to }: Plan,
  { isTraced, isNotice }: { readonly isTraced: boolean; readonly isNotice: boolean },
): Pick<RawEvent, "lane" | "control"> {
  if (isTraced) return { lane: `${key}:skipped` };
  if (!isNotice || to === undefined) return { lane: key };
  return { lane: `${source}:${[to.channel, to.account, to.chat].map(encodeURIComponent).join(":")}`, control: true };
}

/** For the `ingress` station. */
export async function readRun(event: StoredEvent, host: Pick<PluginHost, "store">, schedules: Schedules | undefined) {
  const { plan, planned, lateMs, skipped, notice } = event.body as unknown as RunBody;
  if (skipped !== undefined) return { silent: skipped.code, detail: skipped.detail };
  if (!(await exists(plan, host, schedules)))
    return { silent: "schedule_removed", detail: `There is no ${titleOf(plan)} any more.` };
  const isNotice = notice !== undefined || plan.kind === "say";
  const text = notice ?? (isNotice ? noticeText(plan, planned, lateMs) : askedText(plan, planned, lateMs));
  const { to, asker } = plan;
  const inbound: Inbound = {
    id: event.id,
    channel: asker === undefined ? source : (to?.channel ?? source),
    account: asker === undefined ? "" : (to?.account ?? ""),
    kind: "system",
    chat: asker === undefined ? { id: plan.key, kind: "system" } : chatOf(plan),
    sender: asker === undefined ? { id: plan.key, name: titleOf(plan) } : { id: asker.id, name: asker.name },
    text,
    media: [],
    mention: true,
    timestamp: event.acceptedAt,
    authority: event.authority,
    request: {
      name: titleOf(plan),
      purpose: "schedule",
      agentId: plan.agent,
      sessionKey: plan.sessionKey,
      sessionMode: "persistent",
      ...(to === undefined ? { deliver: false } : { address: to }),
      ...(isNotice && { deliverOnly: true }),
    },
  };
  return inbound;
}

/**
 * A run that was accepted ends silently if its plan was removed or switched off meanwhile, such as while its channel
 * was away.
 */
async function exists(
  { key, name }: Plan,
  { store }: Pick<PluginHost, "store">,
  schedules: Schedules | undefined,
): Promise<boolean> {
  const stored = (await store.get(key)) as unknown as StoredPlan | null;
  if (stored?.plan !== undefined) return true;
  const settings = schedules !== undefined && Object.hasOwn(schedules, name) ? schedules[name] : undefined;
  return settings?.enabled === true && key === `schedule:${name}`;
}

function chatOf({ to, asker }: Plan): Inbound["chat"] {
  return {
    id: to?.chat ?? "",
    kind: asker?.chatKind ?? "direct",
    ...(asker?.chatTitle !== undefined && { title: asker.chatTitle }),
    ...(to?.thread !== undefined && { thread: to.thread }),
  };
}

function dueText({ timezone }: Plan, planned: number, lateMs: number | undefined): string {
  const late = lateMs === undefined ? "" : `, ${sayDuration(lateMs)} late because the gateway was not running`;
  return `due ${sayTime(planned, timezone)}${late}`;
}

/** The words of a reminder are shown as they were set. Those of a schedule are the operator's, and are Markdown. */
function noticeText(plan: Plan, planned: number, lateMs: number | undefined): string {
  const text = plan.asker === undefined ? plan.message : `🔔 Reminder: ${escapeMarkdown(plan.message)}`;
  return lateMs === undefined ? text : `${text}\n\n(This was ${dueText(plan, planned, lateMs)}.)`;
}

function askedText(plan: Plan, planned: number, lateMs: number | undefined): string {
  const what =
    plan.asker === undefined
      ? `[${titleOf(plan)}, ${dueText(plan, planned, lateMs)}]`
      : `This is the ${titleOf(plan)}, ${dueText(plan, planned, lateMs)}. It was asked for earlier; no ` +
        "message was written now.";
  return `${what}\n${plan.message}`;
}
