/** What can be read of a running gateway. Nothing here changes anything. */
import { existsSync } from "node:fs";
import { HostError, type Outcome } from "../../../contract/index.ts";
import { HttpProblem, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import {
  createTextPage,
  eventData,
  findByPrefix,
  fits,
  groupFailed,
  groupings,
  logFile,
  parsePlatformId,
  printStory,
  readActs,
  readEvents,
  readPast,
  readSessions,
  readShown,
  readStory,
  readUsage,
  readWork,
  type Story,
  severities,
  shownData,
  storyData,
} from "../../../reports/index.ts";
import type { EventFilter } from "../../../state/index.ts";
import type { V1Deps } from "./deps.ts";
import { mayDecide } from "./hidden-codes.ts";
import { numberIn } from "./query.ts";
import { remediesOf } from "./remedies.ts";
import { restOf, searched } from "./search.ts";

type Reads = (deps: V1Deps, request: OwnRequest) => Promise<OwnAnswer>;

const mostAtOnce = 100;
const usualEvents = 50;
const messagesAtOnce = 50;
const mostLogLines = 500;
/** Of the newest lines. It takes about 30 ms; the page asks every two seconds. */
const searchedLogBytes = 2 * 1024 * 1024;
const dayMs = 24 * 3_600_000;

const wrong = (message: string) => new HttpProblem("bad_request", message);
const unknown = (what: string) => new HttpProblem("not_found", `There is no such ${what}.`);

/** As `status --json`. */
export const readOverview: Reads = async ({ store, config, stateDirectory, describe, readiness }) => {
  const [{ ready, reasons }, gateway, work] = [readiness(), await describe(), await readWork(store)];
  const { url, pid, startedAt, configFile, watched } = gateway;
  return {
    body: {
      ...watched,
      ...{ running: true, ready, reasons, url, pid, startedAt, configFile, stateDirectory },
      store: config().state.store,
      ...work,
      gateway,
    },
  };
};

const outcomes = ["answered", "silent", "refused", "failed"] as const;

function filterIn(query: OwnRequest["query"]): EventFilter {
  const { outcome, source, chat, sender, before, all } = query;
  const isWaiting = outcome === "waiting";
  if (outcome && !isWaiting && !outcomes.some((one) => one === outcome))
    throw wrong(`outcome must be one of ${outcomes.join(", ")} and waiting.`);
  try {
    return {
      limit: numberIn(query, "limit", { preset: usualEvents, most: mostAtOnce }),
      ...(outcome && !isWaiting && { outcome: outcome as Outcome }),
      ...(isWaiting && { open: true as const, includeInternal: true }),
      ...(all === "1" && { includeInternal: true }),
      ...(source && { source }),
      ...(chat && { chat: parsePlatformId("chat", chat) }),
      ...(sender && { sender: parsePlatformId("sender", sender) }),
      ...(query.since && { since: numberIn(query, "since", { preset: 0 }) }),
      ...(before && { olderThan: before }),
    };
  } catch (error) {
    if (error instanceof HostError) throw wrong(error.message);
    throw error;
  }
}

/**
 * As `events list --json`, newest first. `next` is the value of `before` for the events that follow; a search may have
 * some without having found anything.
 */
export const listEvents: Reads = async ({ store }, { query }) => {
  const asked = filterIn(query);
  const isSearch = [asked.source, asked.chat, asked.sender, asked.since].some((one) => one !== undefined);
  const filter = isSearch && asked.open !== true ? { ...asked, within: searched } : asked;
  const reports = await readEvents(store, filter);
  const next = reports.length === filter.limit ? reports.at(-1)?.id : await restOf(store, filter);
  return { body: { events: reports.map(eventData), ...(next !== undefined && { next }) } };
};

async function storyOf({ store }: V1Deps, { params: { id = "" } }: OwnRequest): Promise<Story> {
  const found = await findByPrefix(store, id, { includeInternal: true }).catch((error: unknown) => {
    if (error instanceof HostError) throw wrong(error.message);
    throw error;
  });
  if (found === null) throw unknown("event");
  return await readStory(store, found);
}

/** As `why ID --json`; for those who may decide, each decision with the remedies that the console can carry out. */
export const explainEvent: Reads = async (deps, request) => {
  const story = await storyOf(deps, request);
  const { decisions, ...data } = storyData(story);
  if (!mayDecide(request.caller)) return { body: { ...data, decisions } };
  const remedies = await remediesOf(deps, story);
  const remedied = decisions.map((decision, index) => {
    const own = remedies[index] ?? [];
    return own.length === 0 ? decision : { ...decision, remedies: own };
  });
  return { body: { ...data, decisions: remedied } };
};

/** As `why ID`. */
export const explainEventAsText: Reads = async (deps, request) => {
  const page = createTextPage();
  printStory(await storyOf(deps, request), page, deps.now());
  return { body: page.written() };
};

/** Failed events by their reason, and what waits for a channel or a model. */
export const readFailed: Reads = async ({ store }) => {
  const [groups, { waits, events }] = [await groupFailed(store), await readWork(store)];
  return { body: { groups, waits, outboxWaiting: events.outboxWaiting } };
};

/** As `sessions list --json`. */
export const listSessions: Reads = async ({ store }, { query }) => ({
  body: { sessions: await readSessions(store, numberIn(query, "limit", { preset: usualEvents, most: mostAtOnce })) },
});

/** As `sessions show KEY --json`, in windows: `before` is `older` of the answer before. */
export const showSession: Reads = async ({ store }, { params: { key = "" }, query }) => {
  const [session] = (await readSessions(store, 100_000)).filter((one) => one.key === key);
  if (session === undefined) throw unknown("session");
  const generation = numberIn(query, "generation", { preset: session.generation, most: session.generation });
  const limit = numberIn(query, "limit", { preset: messagesAtOnce, most: mostAtOnce });
  if (limit === 0) throw wrong("limit must be at least 1.");
  const before = numberIn(query, "before", { preset: Number.MAX_SAFE_INTEGER });
  const shown = await readShown(store, session, { generation, limit, before });
  return { body: { ...shownData(shown), count: shown.count, older: shown.older } };
};

/** As `usage --json`; `days` includes today. */
export const showUsage: Reads = async ({ store, config, now }, { query }) => {
  const { by } = query;
  const grouping = groupings.find((one) => one === by);
  if (by && grouping === undefined) throw wrong(`by must be one of ${groupings.join(", ")}.`);
  const since = numberIn(query, "since", { preset: now() - 7 * dayMs });
  return { body: await readUsage(store, { config: config(), since, by: grouping, now: now() }) };
};

/** As `logs --json`, as a list; the newest line is the last one. Older lines are found by the command. */
export const readLogs: Reads = async ({ stateDirectory }, { query }) => {
  const file = logFile(stateDirectory);
  const lines = numberIn(query, "lines", { preset: 100, most: mostLogLines });
  const { level = "trace", text = "", plugin = "" } = query;
  if (!Object.hasOwn(severities, level)) throw wrong(`level must be one of ${Object.keys(severities).join(", ")}.`);
  const least = severities[level as keyof typeof severities];
  const since = numberIn(query, "since", { preset: 0 });
  const isWanted = (line: string) =>
    line.includes(text) && (plugin === "" || line.includes(`"plugin":"${plugin}"`)) && fits(line, { least, since });
  const found = existsSync(file) ? readPast(file, lines, isWanted, searchedLogBytes).lines : [];
  return { body: { lines: found.slice(-lines || found.length).map((line) => JSON.parse(line) as unknown) } };
};

/** What operators did, newest first. */
export const listActs: Reads = async ({ store }) => ({ body: { acts: await readActs(store, mostAtOnce) } });

export const listBrowsers: Reads = async ({ sessions }, { caller }) => ({
  body: { browsers: (await sessions.list()).map((one) => ({ ...one, own: one.id === caller.session?.id })) },
});
