/** Webhooks for the console: deliveries, refused requests, and the workbench for mappings. */
import { HttpProblem, includesRole, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { deliveryData, findDelivery, readDeliveries } from "../../../reports/index.ts";
import { MappingFailure } from "../../../webhooks/index.ts";
import { deliveryOfStored, fixtureOf, readFixture, readRefusals } from "../../../webhooks/trying.ts";
import type { EditedMapping } from "../../console/hook-workbench.ts";
import { textIn } from "./body.ts";
import type { V1Deps } from "./deps.ts";
import { numberIn } from "./query.ts";
import { carryOut } from "./recorded.ts";
import { restOf, searched } from "./search.ts";

type Answers = (deps: V1Deps, request: OwnRequest) => Promise<OwnAnswer>;

const mostAtOnce = 100;
const usual = 50;
const longestPayload = 2 * 1024 * 1024;
const longestMapping = 200_000;

const jsonOf = (value: unknown): OwnAnswer["body"] => JSON.parse(JSON.stringify(value));

/**
 * As `hooks deliveries --json`; `next` is `before` of those that follow. A part of the events may have none, although
 * older ones are deliveries.
 */
export const listDeliveries: Answers = async ({ store }, { query }) => {
  const limit = numberIn(query, "limit", { preset: usual, most: mostAtOnce });
  const { failed, before } = query;
  const filter = { limit, within: searched, ...(before && { olderThan: before }) };
  const found = await readDeliveries(store, { ...filter, failed: failed === "1" });
  const next = found.length === limit ? found.at(-1)?.report.id : await restOf(store, filter);
  return { body: jsonOf({ deliveries: found.map(deliveryData), ...(next !== undefined && { next }) }) };
};

/** Requests that never became events, newest first. */
export const listRefusals: Answers = async ({ store }) => {
  const all = await readRefusals(store);
  return { body: jsonOf({ count: all.length, refused: all.slice(-mostAtOnce).toReversed() }) };
};

async function deliveryOf({ store }: V1Deps, { params: { id = "" } }: OwnRequest) {
  const found = await findDelivery(store, id);
  if (found === null) throw new HttpProblem("not_found", "There is no such delivery.");
  return found;
}

/** As `hooks show ID --json`; `recorded` is the same as a file of `hooks record`, for the workbench. */
export const showDelivery: Answers = async (deps, request) => {
  const { report, stored, repeated } = await deliveryOf(deps, request);
  const now = new Date(report.acceptedAt).toISOString();
  const recorded = stored.delivery === undefined ? undefined : fixtureOf(deliveryOfStored(stored.delivery, now));
  return { body: jsonOf({ ...report, ...stored, repeated, recorded }) };
};

/** As `hooks replay ID --remap`: through the mappings as they are now, as a new event. */
export const mapAgain: Answers = async (deps, request) => {
  const { report, stored } = await deliveryOf(deps, request);
  if (report.state !== "settled") throw new HttpProblem("idempotency_conflict", "The delivery still waits or runs.");
  if (stored.delivery === undefined)
    throw new HttpProblem("not_found", "The delivery was not for a mapping, so that it cannot be mapped again.");
  return await carryOut(deps, request, { act: "hook_replay", subject: report.id }, async () => {
    try {
      return { body: jsonOf({ ok: true, ...(await deps.replay(report.id)) }) };
    } catch (error) {
      if (!(error instanceof MappingFailure)) throw error;
      const { problem, path, hint } = error;
      return { status: 409, body: { ok: false, error: problem.message, code: problem.code, path, hint } };
    }
  });
};

/** As `hooks list --json`. */
export const listHooks: Answers = async ({ workbench }) => ({ body: jsonOf(await (await workbench()).list()) });

export const listMappings: Answers = async ({ workbench }) => ({ body: jsonOf(await (await workbench()).mappings()) });

function editedIn(body: unknown): EditedMapping | undefined {
  const { edited } = (body ?? {}) as { readonly edited?: unknown };
  if (edited === undefined) return undefined;
  const { base } = edited as { readonly base?: unknown };
  return {
    base: typeof base === "string" ? base : "",
    at: textIn(edited, "at"),
    text: textIn(edited, "text", longestMapping),
  };
}

/**
 * As `hooks test`: what a delivery would do, with `edited` as if that mapping were saved. `delivery` is a payload or a
 * recording, as text.
 */
export const testDelivery: Answers = async (deps, request) => {
  const { body, caller } = request;
  const edited = editedIn(body);
  if (edited !== undefined && !includesRole(caller.role, "admin"))
    throw new HttpProblem("role_too_low", "A mapping that is not saved is tried with the role admin.");
  const path = textIn(body, "path");
  const text = textIn(body, "delivery", longestPayload);
  const delivery = readFixture(text, { file: "the payload", path, now: new Date(deps.now()).toISOString() });
  return { body: jsonOf(await (await deps.workbench()).test(delivery, edited)) };
};

/** Saves a mapping in its place of the configuration; with `dryRun`, only checks it. */
export const saveMapping: Answers = async (deps, request) => {
  const { body } = request;
  const edited = editedIn(body);
  if (edited === undefined) throw new HttpProblem("invalid_payload", "edited is required.");
  const workbench = await deps.workbench();
  const checked = await workbench.save(edited, { dryRun: true });
  if ((body as { readonly dryRun?: unknown }).dryRun === true || !checked.changed)
    return { body: jsonOf({ ok: true, ...checked }) };
  return await carryOut(deps, request, { act: "mapping_save", subject: edited.at }, async () => ({
    body: jsonOf({ ok: true, ...(await workbench.save(edited)) }),
  }));
};
