/** The rules that must hold after any number of kills. Each check names its rule and lists the violations. */
import type { SentUpdate } from "./people.ts";
import type { HookCall } from "./senders.ts";
import type { OutboxRow, State } from "./state.ts";
import { checkGathering, essence, expectedOf, readUpdateOutcomes, type UpdateOutcomes } from "./update-outcomes.ts";
import type { SeenMessage } from "./witness.ts";

export interface Kill {
  readonly at: number;
  /** Messages of previews that the state knew of when the process was killed, as `chat:message`. */
  readonly previews: ReadonlySet<string>;
}

export interface Evidence {
  readonly state: State;
  readonly updates: readonly SentUpdate[];
  readonly hooks: readonly HookCall[];
  readonly messages: ReadonlyMap<string, SeenMessage>;
  /** Lines of the observer: kind, event id, time. */
  readonly observed: readonly (readonly [what: string, eventId: string, at: number])[];
  readonly kills: readonly Kill[];
  readonly exitCode: number | string;
}

export interface Check {
  readonly rule: string;
  readonly violations: readonly string[];
}

export interface Findings {
  readonly checks: readonly Check[];
  /** Updates that joined another one's unit. */
  readonly gathered: number;
  /** Counts of outcomes that a kill makes impossible to know. */
  readonly ambiguous: Readonly<Record<string, number>>;
}

/**
 * Maximum share of lost previews. A preview's id is committed as soon as the platform has returned it. Kills aim at
 * that moment, so many are lost; a larger share means that the id is not committed.
 */
const mostPreviewsLost = 0.5;
const outcomes: Readonly<Record<number, string>> = { 4: "answered", 5: "silent", 6: "refused", 7: "failed" };

export function check(evidence: Evidence): Findings {
  const strangers = explainStrangers(evidence);
  const { state, updates, exitCode } = evidence;
  const updateOutcomes = readUpdateOutcomes(state, updates);
  const gathering = checkGathering(state, updates, updateOutcomes);
  const flagged = state.outbox.filter((row) => row.doubts > 0);
  const failed = (reason: string) => [...state.units.values()].filter((unit) => unit.reason === reason).length;
  return {
    checks: [
      { rule: "every acknowledged hook call is in the inbox", violations: lostHooks(evidence) },
      {
        rule: "a hook call that was repeated is one event, and every answer names it",
        violations: repeatedHooks(evidence),
      },
      {
        rule: "every message, edit and press that the platform was told of is in the inbox, once",
        violations: lostUpdates(updates, updateOutcomes),
      },
      {
        rule:
          "parts of an album or of a long text, and the edit of a waiting message, are one unit; a " +
          "press is its own",
        violations: gathering.violations,
      },
      { rule: "every event has exactly one end", violations: ends(evidence) },
      { rule: "nothing is left unsent", violations: unsent(evidence) },
      { rule: "no turn began for an event that had ended", violations: turnsAfterTheEnd(evidence) },
      { rule: "no end was told twice", violations: endsReportedTwice(evidence) },
      {
        rule: "an event fails for no other reason than being killed again and again",
        violations: otherFailures(evidence),
      },
      {
        rule: "every answer stands on the platform, once, as it was meant",
        violations: [...answers(evidence), ...echoes(state, updateOutcomes)],
      },
      { rule: "no answer is given up before its last repetition", violations: lostInDoubt(evidence) },
      { rule: "the answers of a chat come in the order of its messages", violations: order(state) },
      { rule: "no message stands on the platform that nobody answers for", violations: strangers.unexplained },
      { rule: "of the previews that a kill interrupts, the next process knows most", violations: strangers.forgetful },
      {
        rule: "what may have been sent twice says so in its chain of decisions",
        violations: unreported(flagged, evidence),
      },
      ...embeddedChecks(state),
      {
        rule: "told to stop, the gateway stops cleanly",
        violations: exitCode === 0 ? [] : [`it ended with ${exitCode}`],
      },
    ],
    gathered: gathering.together,
    ambiguous: {
      "parts that came too late for one unit": gathering.apart,
      "sends of unknown fate": flagged.reduce((all, { doubts }) => all + doubts, 0),
      "of them seen twice": strangers.repeats,
      "given up after the last repetition": failed("send_fate_unknown"),
      "of their parts seen by nobody": seenByNobody(evidence).length,
      "previews whose id was lost with the process": strangers.previews,
      "events that failed after three killed attempts": failed("attempts_exhausted"),
    },
  };
}

/** What only the embedded database counts and checks by itself. */
function embeddedChecks(state: State): readonly Check[] {
  const { numbers, integrity } = state;
  if (numbers === undefined || integrity === undefined) return [];
  return [
    { rule: "the totals agree with the rows", violations: totals(state, numbers) },
    { rule: "the database is sound", violations: integrity === "ok" ? [] : [integrity] },
  ];
}

function lostHooks({ state, hooks }: Evidence): string[] {
  const ids = new Set(state.events.map((event) => event.id));
  return hooks.flatMap((call) => call.acknowledged.filter((id) => !ids.has(id)).map((id) => `${call.mark}: ${id}`));
}

function repeatedHooks({ state, hooks }: Evidence): string[] {
  const found = new Map<string, string[]>();
  for (const event of state.events) {
    if (event.source !== "hooks" || event.kind === "summary") continue;
    const { text = "", message = "" } = JSON.parse(event.body) as { readonly text?: string; readonly message?: string };
    const mark = /\bh\d+\b/.exec(`${text}${message}`)?.[0] ?? "";
    found.set(mark, [...(found.get(mark) ?? []), event.id]);
  }
  return hooks.flatMap(({ mark, key, acknowledged }) => {
    const ids = found.get(mark) ?? [];
    const wrong = acknowledged.some((id) => id !== ids[0]) || ids.length > 1 || (key !== undefined && ids.length === 0);
    return wrong
      ? [`${mark}: stored as ${ids.join(", ") || "nothing"}, acknowledged as ${acknowledged.join(", ")}`]
      : [];
  });
}

function lostUpdates(updates: readonly SentUpdate[], { eventsOf, unknown }: UpdateOutcomes): string[] {
  return [
    ...updates.flatMap((one) =>
      eventsOf(one).length === 1 ? [] : [`${one.key.slice(0, 40)}: ${eventsOf(one).length} events`],
    ),
    ...unknown.map(({ id, body }) => `${id} is of nobody: ${body.slice(0, 80)}`),
  ];
}

export function ends({ state }: Pick<Evidence, "state">): string[] {
  return state.events.flatMap((event) => {
    const unit = event.unit === null ? undefined : state.units.get(event.unit);
    const ended = outcomes[event.state];
    const sound = ended !== undefined && unit?.state === 2 && unit.outcome === ended && unit.settled_at !== null;
    return sound
      ? []
      : [`${event.id} (${event.kind}): event ${event.state}, due ${event.due}, unit ${unit?.state} ${unit?.outcome}`];
  });
}

export function unsent({ state }: Pick<Evidence, "state">): string[] {
  return state.outbox.filter((row) => row.state < 2).map((row) => `unit ${row.unit}, part ${row.position}`);
}

export function turnsAfterTheEnd({ state, observed }: Pick<Evidence, "state" | "observed">): string[] {
  const settledAt = new Map(
    [...state.units.values()].map((unit) => [unit.event_id, unit.settled_at ?? Number.POSITIVE_INFINITY]),
  );
  const endedEvents = new Set<string>();
  const wrong: string[] = [];
  for (const [what, eventId, at] of observed) {
    if (what !== "turn") endedEvents.add(eventId);
    else if (endedEvents.has(eventId)) wrong.push(`${eventId}: a turn after its end was told`);
    else if (at > (settledAt.get(eventId) ?? Number.POSITIVE_INFINITY))
      wrong.push(`${eventId}: a turn after its end was stored`);
  }
  return wrong;
}

export function endsReportedTwice({ state, observed }: Pick<Evidence, "state" | "observed">): string[] {
  const byEvent = new Map([...state.units.values()].map((unit) => [unit.event_id, unit]));
  const endedEvents = new Set<string>();
  const wrong: string[] = [];
  for (const [what, eventId] of observed) {
    if (what === "turn") continue;
    if (endedEvents.has(eventId)) wrong.push(`${eventId}: told twice`);
    if (byEvent.get(eventId)?.outcome !== what)
      wrong.push(`${eventId}: told ${what}, stored ${byEvent.get(eventId)?.outcome}`);
    endedEvents.add(eventId);
  }
  return wrong;
}

export function otherFailures({ state }: Pick<Evidence, "state">): string[] {
  return state.events.flatMap((event) => {
    const unit = event.unit === null ? undefined : state.units.get(event.unit);
    if (unit === undefined || unit.outcome === "answered" || (unit.outcome === "silent" && event.kind !== "update"))
      return [];
    if (unit.reason === "send_fate_unknown") return [];
    const leader = state.events.find((one) => one.id === unit.event_id);
    if (unit.reason === "attempts_exhausted" && (leader?.attempts ?? 0) >= 3) return [];
    return [`${event.id} (${event.kind}): ${unit.outcome}, ${unit.reason}, ${event.attempts} attempts`];
  });
}

function claimed(state: State): readonly OutboxRow[] {
  return state.outbox.filter((row) => row.operation === "send" && row.state === 2);
}

export function answers({ state, messages }: Pick<Evidence, "state" | "messages">): string[] {
  const wrong: string[] = [];
  const taken = new Set<string>();
  for (const row of claimed(state)) {
    const place = `${row.chat}:${row.messageId}`;
    const message = messages.get(place);
    if (taken.has(place)) wrong.push(`${place} is the answer of two parts`);
    taken.add(place);
    if (message === undefined || message.deleted) wrong.push(`${place} is not on the platform`);
    else if (squeeze(message.text) !== squeeze(row.text))
      wrong.push(`${place} reads ${message.text.slice(0, 60)}, not ${row.text.slice(0, 60)}`);
  }
  return wrong;
}

/** How often a send with an unknown outcome is repeated before it is given up: the limit of the delivery station. */
const mostRepetitions = 2;

/** Parts that were given up because their outcome was unknown, and that are not on the platform either. */
function seenByNobody({ state, messages }: Evidence): readonly OutboxRow[] {
  const there = new Set(
    [...messages.values()].filter(({ deleted }) => !deleted).map(({ chat, text }) => `${chat}:${squeeze(text)}`),
  );
  return state.outbox.filter(
    (row) => row.reason === "send_fate_unknown" && !there.has(`${row.chat}:${squeeze(row.text)}`),
  );
}

/** A process killed between its mark and its call has sent nothing, so only two in a row may leave nothing at all. */
function lostInDoubt(evidence: Evidence): string[] {
  return (
    seenByNobody(evidence)
      // A row without an earlier doubt is an apology, which is not repeated.
      .filter((row) => row.doubts > 0 && row.doubts < mostRepetitions)
      .map((row) => `unit ${row.unit}, part ${row.position}, after ${row.doubts} doubts`)
  );
}

/** The reply to each unit of a chat contains the unit's content: nothing is missing, nothing is repeated. */
function echoes(state: State, { units }: UpdateOutcomes): string[] {
  return [...units].flatMap(([unit, updates]) => {
    if (unit.outcome !== "answered") return [];
    const parts = state.outbox.filter((row) => row.unit === unit.id && row.operation === "send").map((row) => row.text);
    const answer = essence(parts.join(""));
    const wanted = expectedOf(updates);
    return answer === wanted
      ? []
      : [`unit ${unit.id} was answered with ${answer.slice(0, 80)}, not with ${wanted.slice(0, 80)}`];
  });
}

/** The platform trims white space. */
function squeeze(text: string): string {
  return text.replace(/[\s•·-]+/g, " ").trim();
}

/** By the position of a reply in its chat; a part that was sent twice is counted at its last position. */
function order(state: State): string[] {
  const ranks = new Map(state.events.map(({ id, sequence }) => [id, sequence]));
  const sent = Map.groupBy(claimed(state), ({ unit }) => unit);
  const highest = new Map<string, number>();
  return [...state.units.values()]
    .filter(({ lane }) => lane.startsWith("botchat:"))
    .sort((a, b) => (ranks.get(a.event_id) ?? 0) - (ranks.get(b.event_id) ?? 0))
    .flatMap(({ id, lane }) => {
      const places = (sent.get(id) ?? []).map(({ messageId }) => Number(messageId));
      const late = places.filter((place) => place < (highest.get(lane) ?? 0));
      highest.set(lane, Math.max(highest.get(lane) ?? 0, ...places));
      return late.map((place) => `${lane}: message ${place} of unit ${id} came before the answer to something older`);
    });
}

/** Messages that no sent part names: duplicates and lost previews, as far as the state or a kill explains them. */
function explainStrangers({ state, messages, kills }: Evidence): {
  readonly unexplained: readonly string[];
  readonly forgetful: readonly string[];
  readonly repeats: number;
  readonly previews: number;
} {
  const known = new Set(claimed(state).map((row) => `${row.chat}:${row.messageId}`));
  // A lost preview is the beginning of a reply, never a whole one.
  const whole = new Set(state.outbox.map((row) => `${row.chat}:${squeeze(row.text)}`));
  const allowance = new Map<string, number>();
  for (const row of state.outbox) {
    const copies = row.reason === "send_fate_unknown" ? row.doubts + 1 : row.doubts;
    const name = `${row.chat}:${squeeze(row.text)}`;
    if (copies > 0) allowance.set(name, (allowance.get(name) ?? 0) + copies);
  }
  let repeats = 0;
  let previews = 0;
  const unexplained: string[] = [];
  for (const message of messages.values()) {
    if (message.deleted || known.has(`${message.chat}:${message.id}`)) continue;
    const name = `${message.chat}:${squeeze(message.text)}`;
    const copies = allowance.get(name) ?? 0;
    const next = kills.find((kill) => kill.at >= message.at);
    const preview = !whole.has(name);
    if (copies > 0) {
      allowance.set(name, copies - 1);
      repeats += 1;
    } else if (preview && isLost(message, next)) previews += 1;
    else {
      const since = next === undefined ? "no kill after it" : `a kill ${Math.round(next.at - message.at)} ms after it`;
      unexplained.push(
        `${message.chat}:${message.id} ${preview ? "preview " : ""}"${message.text.slice(0, 40)}" (${since})`,
      );
    }
  }
  const knownPreviews = new Set(kills.flatMap((kill) => [...kill.previews])).size;
  const all = knownPreviews + previews;
  // Twice what chance alone makes of so few: four out of six prove nothing, six out of six do.
  const most = mostPreviewsLost * all + Math.sqrt(all);
  const forgetful = previews > most ? [`${previews} were lost, ${knownPreviews} were known`] : [];
  return { unexplained, forgetful, repeats, previews };
}

/**
 * Its id was on the way to the state when the process was killed: the state found by the next process did not contain
 * it. If it was edited, the id had already arrived, and the loss is not excused.
 */
function isLost(message: SeenMessage, next: Kill | undefined): boolean {
  return next !== undefined && !message.edited && !next.previews.has(`${message.chat}:${message.id}`);
}

/** Each doubt about each part has its own decision. */
export function unreported(flagged: readonly OutboxRow[], { state }: Pick<Evidence, "state">): string[] {
  return [...Map.groupBy(flagged, ({ unit }) => unit)].flatMap(([unit, rows]) => {
    const codes = state.codes.get(unit) ?? [];
    const doubts = rows.reduce((all, row) => all + row.doubts, 0);
    const reported = codes.filter((code) => code === "possibly_repeated").length;
    return reported === doubts ? [] : [`unit ${unit}: ${doubts} doubts, ${reported} told: ${codes.join(" ")}`];
  });
}

function totals(state: State, numbers: ReadonlyMap<string, number>): string[] {
  const events = (codes: readonly number[]) => state.events.filter((event) => codes.includes(event.state)).length;
  const rows: readonly (readonly [string, number])[] = [
    ["waiting", events([2])],
    ["running", events([3])],
    ["answered", events([4])],
    ["silent", events([5])],
    ["refused", events([6])],
    ["failed", events([7])],
    ["kept", events([4, 5, 6, 7])],
    ["outbox", state.outbox.filter((row) => row.state < 2).length],
  ];
  return rows.flatMap(([name, count]) =>
    (numbers.get(name) ?? 0) === count ? [] : [`${name}: ${numbers.get(name)} counted, ${count} there`],
  );
}

/** Prints a rule, and its first violations. */
export function printCheck(rule: Check): void {
  console.log(`${rule.violations.length === 0 ? "ok  " : "FAIL"} ${rule.rule}`);
  for (const violation of rule.violations.slice(0, 5)) console.log(`     ${violation}`);
  if (rule.violations.length > 5) console.log(`     and ${rule.violations.length - 5} more`);
}
