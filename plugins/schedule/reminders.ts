/** Reminders: created, listed and cancelled in a chat. */
import { randomBytes } from "node:crypto";
import type { Address, Inbound, PluginHost, Route } from "service-gateway/sdk";
import type { Agenda } from "./agenda.ts";
import type { Entry } from "./book.ts";
import { type Asker, fingerprint, type Plan, reminderPrefix, type StoredPlan, type Times } from "./plan.ts";
import { createQueue } from "./queue.ts";
import { durationMs, instantOf, nextAfter, nextTimes, shortestGapMs, timesProblem } from "./times.ts";
import { type PlanView, viewOf } from "./view.ts";
import { isTimeZone, sayTime } from "./wording.ts";
import { timezoneOf } from "./zones.ts";

const mostOfChat = 50;
/** In all chats of an account: a stranger may be in many groups. */
const mostOfPerson = 100;
const leastGapMs = 5 * 60_000;
const mostChars = 4_000;

/** What a model or person asks for. */
export interface Asked {
  readonly text: string;
  readonly at?: string;
  readonly in?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly kind?: Plan["kind"];
}

/** Where and for whom. */
export interface Situation {
  readonly inbound: Inbound;
  readonly route: Pick<Route, "agentId" | "sessionKey">;
  /** The same when the call is repeated after a crash, which then finds its reminder. */
  readonly key?: string;
}

export type Answer<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly code: string; readonly error: string };

export interface Reminders {
  remind(
    asked: Asked,
    situation: Situation,
  ): Promise<Answer<{ readonly id: string; readonly kind: Plan["kind"]; readonly next: readonly string[] }>>;
  /** Those of the chat, in all of its topics. */
  of(inbound: Inbound): readonly Entry[];
  cancel(id: string, inbound: Inbound): Promise<Answer<{ readonly cancelled: string }>>;
  /** The same, as people and models read them. */
  views(inbound: Inbound): readonly PlanView[];
}

/** As long as an event is kept, whose turn may run again. */
const callSeconds = 7 * 86_400;
const callKey = (key: string) => `call:${key}`;

const refuse = (code: string, error: string) => ({ ok: false, code, error }) as const;

/** Characters that are not mistaken for one another. */
const letters = "23456789ABCDEFGHJKMNPQRSTVWXYZ";

const newCode = () => [...randomBytes(4)].map((byte) => letters[byte % letters.length]).join("");

export const addressOf = ({ channel, account, chat }: Inbound): Address => ({
  ...{ channel, account, chat: chat.id },
  ...(chat.thread === undefined ? {} : { thread: chat.thread }),
});

function askerOf({ sender, chat }: Inbound): Asker | undefined {
  if (chat.kind === "system") return undefined;
  const title = chat.title === undefined ? {} : { chatTitle: chat.title };
  return { id: sender.id, name: sender.name, chatKind: chat.kind, ...title };
}

export function createReminders({
  host,
  agenda,
}: {
  readonly host: Pick<PluginHost, "store" | "timezone" | "now">;
  readonly agenda: Pick<Agenda, "entries" | "change">;
}): Reminders {
  /** Two calls of one turn may run at once, and only one of them may be the fiftieth. */
  const queue = createQueue();

  const ofAccount = ({ channel, account }: Inbound): readonly Entry[] =>
    agenda
      .entries()
      .filter(
        ({ plan: { key, to } }) => key.startsWith(reminderPrefix) && to?.channel === channel && to.account === account,
      );

  const ofChat = (inbound: Inbound): readonly Entry[] =>
    ofAccount(inbound).filter(({ plan }) => plan.to?.chat === inbound.chat.id);

  const ofPerson = (inbound: Inbound): readonly Entry[] =>
    ofAccount(inbound).filter(({ plan }) => plan.asker?.id === inbound.sender.id);

  /** Why no further reminder can be set here by this person. */
  function tooMany(inbound: Inbound): string | undefined {
    const [here, own] = [ofChat(inbound).length, ofPerson(inbound).length];
    if (here >= mostOfChat)
      return `This chat already has ${here} reminders, and at most ${mostOfChat} are allowed. Cancel one first.`;
    if (own < mostOfPerson) return undefined;
    return (
      `This person already has ${own} reminders in all chats, and at most ${mostOfPerson} are allowed. ` +
      "Cancel one first."
    );
  }

  function confirmed(plan: Plan, { due, anchor }: StoredPlan): Awaited<ReturnType<Reminders["remind"]>> {
    const next = due === null ? [] : nextTimes(plan, { after: due - 1, anchor, count: 3 });
    return { ok: true, id: plan.name, kind: plan.kind, next: next.map((at) => sayTime(at, plan.timezone)) };
  }

  /** What the call has set. One that was due meanwhile is no longer in the agenda. */
  async function setBefore(key: string): Promise<Entry | undefined> {
    const entry = agenda.entries().find(({ stored }) => stored.call === key);
    return entry ?? ((await host.store.get(callKey(key))) as unknown as Entry | null) ?? undefined;
  }

  async function remind(asked: Asked, { inbound, route, key }: Situation): ReturnType<Reminders["remind"]> {
    const asker = askerOf(inbound);
    const before = key === undefined ? undefined : await setBefore(key);
    if (before !== undefined) return confirmed(before.plan, before.stored);
    if (inbound.authority !== "channel" || asker === undefined)
      return refuse("no_chat", "Reminders can only be set in a chat, by a message of a person. Nothing was set.");
    const now = host.now();
    const timezone = asked.timezone ?? (await timezoneOf(host, inbound));
    const times = timesIn(asked, { timezone, now });
    if ("ok" in times) return times;
    const text = asked.text.trim();
    if (text === "" || text.length > mostChars)
      return refuse("text_invalid", `The text must have 1 to ${mostChars} characters. Nothing was set.`);
    const full = tooMany(inbound);
    if (full !== undefined) return refuse("too_many_reminders", full);
    let id = newCode();
    while (agenda.entries().some(({ plan }) => plan.name === id)) id = newCode();
    const kind = asked.kind ?? "say";
    const plan: Plan = {
      ...{ key: `${reminderPrefix}${id}`, name: id, times, timezone, kind, message: text },
      ...{ agent: route.agentId, sessionKey: route.sessionKey, to: addressOf(inbound), asker, ifMissed: "run-once" },
    };
    const due = nextAfter(plan, now, now);
    const by = { channel: inbound.channel, senderId: inbound.sender.id };
    const stored: StoredPlan = { plan, times: fingerprint(plan), anchor: now, due, by, call: key };
    await agenda.change(plan.key, () => stored);
    if (key !== undefined)
      await host.store.set(callKey(key), JSON.parse(JSON.stringify({ plan, kept: stored, by })), {
        ttlSeconds: callSeconds,
      });
    return confirmed(plan, stored);
  }

  return {
    remind: (asked, situation) => queue.add(() => remind(asked, situation)),
    of: ofChat,
    views: (inbound) => ofChat(inbound).map(viewOf),
    async cancel(id, inbound) {
      const found = ofChat(inbound).find(({ plan }) => plan.name === id.trim().toUpperCase());
      if (found === undefined) return refuse("reminder_unknown", `This chat has no reminder ${id.trim()}.`);
      await agenda.change(found.plan.key, () => null);
      return { ok: true, cancelled: found.plan.name };
    },
  };
}

/** The times that were asked for, or why they cannot be used. Each refusal of a time says what time it is. */
function timesIn(
  asked: Asked,
  { timezone, now }: { readonly timezone: string; readonly now: number },
): Times | ReturnType<typeof refuse> {
  const given = [asked.at, asked.in, asked.cron].filter((one) => one !== undefined && one !== "");
  if (given.length !== 1) return refuse("time_missing", "Give exactly one of at, in and cron. Nothing was set.");
  if (!isTimeZone(timezone))
    return refuse(
      "timezone_unknown",
      `${timezone} is not a time zone. Use a name such as Europe/Berlin. Nothing was set.`,
    );
  const present = `It is ${sayTime(now, timezone)} now. Nothing was set.`;
  if (asked.in !== undefined && asked.in !== "") {
    const ms = durationMs(asked.in);
    if (ms === undefined) return refuse("time_invalid", `in must be a time such as 30m, 2h or 1d. ${present}`);
    return { at: new Date(now + ms).toISOString() };
  }
  if (asked.at !== undefined && asked.at !== "") {
    const at = instantOf(asked.at, timezone);
    if (at === undefined)
      return refuse("time_invalid", `at must be a date and time such as 2027-03-01T09:00. ${present}`);
    if (at <= now) return refuse("time_past", `${sayTime(at, timezone)} is in the past. ${present}`);
    return { at: asked.at };
  }
  const times = { cron: asked.cron ?? "" };
  const problem = timesProblem(times, timezone, now);
  if (problem !== undefined) return refuse("time_invalid", `cron ${problem.message}. ${problem.hint} ${present}`);
  return times;
}

/** Why an owner is asked before a reminder is set; `undefined` if none is. */
export function approvalReason(
  { cron, timezone = "UTC" }: Pick<Asked, "cron" | "timezone">,
  now: number,
): string | undefined {
  if (cron === undefined || timesProblem({ cron }, timezone, now) !== undefined) return undefined;
  return shortestGapMs({ times: { cron }, timezone }, now) < leastGapMs
    ? "It repeats more often than every 5 minutes."
    : undefined;
}
