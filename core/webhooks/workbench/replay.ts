/**
 * Sends a stored delivery through its mapping again, using the current mapping. The sender was authenticated when the
 * delivery arrived and is not checked again.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import { HttpProblem, parseExactJson } from "../../http/index.ts";
import type { Store } from "../../state/index.ts";
import type { AcceptInput } from "../endpoint/answer-delivery.ts";
import { chooseMapping, type Posted } from "../mapping/choose.ts";
import type { MappingTable } from "../mapping/compiled-mapping.ts";
import type { BodyKind } from "../mapping/payload.ts";
import { type MappedDeps, planRuns } from "../mapping/plan-runs.ts";
import { runEvents, type StoredDelivery } from "../mapping/run-events.ts";
import { isDelivery, readStoredHook } from "../mapping/stored-hook.ts";

export interface ReplayDeps extends MappedDeps {
  readonly store: Pick<Store, "event" | "body">;
  readonly table: () => MappingTable;
  readonly accept: (input: AcceptInput) => Promise<{ readonly eventId: string }>;
  readonly now: () => number;
}

export interface Replayed {
  readonly mapping: string;
  /** The new events; empty if the mapping finds nothing to do. */
  readonly eventIds: readonly string[];
}

const types: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain",
  "text-json": "text/plain",
};

/** Replays a delivery. Throws `HttpProblem`, and `MappingFailure` if the mapping fails, which is not recorded again. */
export async function replayDelivery(eventId: string, deps: ReplayDeps): Promise<Replayed> {
  const report = await deps.store.event(eventId);
  const stored =
    report === null || !isDelivery(report)
      ? undefined
      : readStoredHook(await deps.store.body(eventId), report.kind).delivery;
  if (stored === undefined) throw new HttpProblem("not_found", "There is no such delivery to a mapping.");
  if (stored.index !== undefined && stored.body === "") {
    throw new HttpProblem(
      "payload_too_large",
      "This element was too large to be stored with the others of its delivery.",
    );
  }
  const now = deps.now();
  const posted = postedOf(stored, now);
  const chosen = chooseMapping(deps.table().way(stored.path).mappings, posted);
  if (chosen === undefined)
    throw new HttpProblem("not_found", `No mapping takes deliveries to ${stored.path} any longer.`);
  const { mapping, delivery } = chosen;
  const { runs, views } = await planRuns(mapping, delivery, deps);
  const events = runEvents(mapping, runs, {
    stored,
    views,
    // With its key, it would be treated as a repetition.
    dedupeKey: undefined,
    mainSession: `agent:${deps.agents.defaultId()}:main`,
    now,
  });
  const accepted = await Promise.all(events.map((event) => deps.accept({ event })));
  return { mapping: mapping.id, eventIds: accepted.map((one) => one.eventId) };
}

/**
 * Reconstructs the request. For a list element and a multipart form, the parsed payload is known, and the mapping is
 * selected by the kind of the whole delivery.
 */
function postedOf({ path, method, headers, query, body, kind, sentAs }: StoredDelivery, now: number): Posted {
  const type: IncomingHttpHeaders = { "content-type": types[sentAs ?? kind] };
  const read = sentAs === undefined ? {} : { payload: parseExactJson(body) as Json };
  return {
    path,
    ...(method && { method }),
    type,
    headers,
    query,
    body: Buffer.from(body),
    ...read,
    now: new Date(now).toISOString(),
  };
}
