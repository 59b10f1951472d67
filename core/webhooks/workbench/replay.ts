/** A kept delivery goes through its mapping again, as the mapping is now. Its sender was judged when it came; nothing of that is asked again. */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import { HttpProblem, parseExactJson } from "../../http/index.ts";
import type { Store } from "../../state/index.ts";
import type { AcceptInput } from "../endpoint/mapped-requests.ts";
import { chooseMapping, type Posted } from "../mapping/choose.ts";
import { isDelivery, readKept } from "../mapping/kept.ts";
import { type MappedDeps, planRuns } from "../mapping/mapped.ts";
import { type KeptDelivery, runEvents } from "../mapping/mapped-events.ts";
import type { MappingTable } from "../mapping/mapping.ts";
import type { BodyKind } from "../mapping/payload.ts";

export interface ReplayDeps extends MappedDeps {
  readonly store: Pick<Store, "event" | "body">;
  readonly table: () => MappingTable;
  readonly accept: (input: AcceptInput) => Promise<{ readonly eventId: string }>;
  readonly now: () => number;
}

export interface Replayed {
  readonly mapping: string;
  /** New events; none when the mapping has nothing to do with it. */
  readonly eventIds: readonly string[];
}

const types: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain",
  "text-json": "text/plain",
};

/** Throws `MappingFailure` when it fails in its mapping, which is not recorded once more, and `HttpProblem`. */
export async function replayDelivery(eventId: string, deps: ReplayDeps): Promise<Replayed> {
  const report = await deps.store.event(eventId);
  const kept = report === null || !isDelivery(report) ? undefined : readKept(await deps.store.body(eventId), report.kind).delivery;
  if (kept === undefined) throw new HttpProblem("not_found", "There is no such delivery to a mapping.");
  if (kept.index !== undefined && kept.body === "") {
    throw new HttpProblem("payload_too_large", "This element was too large to be kept beside the others of its delivery.");
  }
  const now = deps.now();
  const posted = postedOf(kept, now);
  const chosen = chooseMapping(deps.table().way(kept.path).mappings, posted);
  if (chosen === undefined) throw new HttpProblem("not_found", `No mapping takes a delivery to ${kept.path} any more.`);
  const { mapping, delivery } = chosen;
  const { runs, views } = await planRuns(mapping, delivery, deps);
  const events = runEvents(mapping, runs, {
    kept,
    views,
    // Under its key it would be taken for a repetition.
    dedupeKey: undefined,
    mainSession: `agent:${deps.agents.defaultId()}:main`,
    now,
  });
  const accepted = await Promise.all(events.map((event) => deps.accept({ event })));
  return { mapping: mapping.id, eventIds: accepted.map((one) => one.eventId) };
}

/** Of an element of a list it is known what was read; its mapping takes it by the kind that the whole delivery was of. */
function postedOf({ path, headers, query, body, kind, sentAs }: KeptDelivery, now: number): Posted {
  const type: IncomingHttpHeaders = { "content-type": types[sentAs ?? kind] };
  const read = sentAs === undefined ? {} : { payload: parseExactJson(body) as Json };
  return { path, type, headers, query, body: Buffer.from(body), ...read, now: new Date(now).toISOString() };
}
