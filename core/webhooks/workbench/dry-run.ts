/**
 * Determines what a delivery would cause, with the mappings' own code up to the point where something would be stored.
 */
import { type Json, reasonOf } from "../../contract/index.ts";
import type { ProblemCode } from "../../http/index.ts";
import { type Mapping, type MappingTable, methodOf } from "../mapping/compiled-mapping.ts";
import {
  type MappedDeps,
  type MappedRun,
  MappingFailure,
  type Plan,
  planRuns,
  renderFields,
} from "../mapping/plan-runs.ts";
import type { HookDelivery } from "../mapping/webhook-delivery.ts";
import type { Fields } from "../runs/fields.ts";

/** A mapping that was tried, in order. */
export interface Asked {
  readonly id: string;
  /** Its configuration path. */
  readonly at: string;
  readonly preset?: string;
  readonly taken: boolean;
  /** Why it does not match the delivery; absent for the one that does. */
  readonly why?: string;
}

/** The intermediate results for one element of the delivery; without `forEach`, for the delivery. */
export interface DryStep {
  /** The results of templates and settings. */
  readonly rendered: Fields;
  /** The result of the transform; absent if there is none or it was not reached. */
  readonly transform?: { readonly module: string; readonly result?: Json; readonly error?: string };
}

export interface DryRun {
  readonly path: string;
  readonly asked: readonly Asked[];
  readonly steps: readonly DryStep[];
  /** The runs that would start. */
  readonly runs: readonly MappedRun[];
  /** Why nothing would run. */
  readonly nothing?: NonNullable<Plan["nothing"]>;
  /** The error that the sender would receive instead. */
  readonly failure?: {
    readonly code: ProblemCode;
    readonly status: number;
    readonly message: string;
    readonly path: string;
    readonly hint: string;
  };
}

/** Performs a dry run. Problems of the delivery are part of the result and are not thrown. */
export async function dryRun(table: MappingTable, delivery: HookDelivery, deps: MappedDeps): Promise<DryRun> {
  const { mapping, asked } = ask(table, delivery);
  const base = { path: delivery.path, asked };
  if (mapping === undefined) return { ...base, steps: [], runs: [] };
  const { calls, transform } = watch(deps);
  const stepsOf = (views: readonly HookDelivery[]): readonly DryStep[] =>
    calls.length > 0
      ? calls.map(({ context, ...called }) => ({ rendered: renderFields(mapping, context), transform: called }))
      : views.map((view) => ({ rendered: renderFields(mapping, view) }));
  try {
    const { runs, nothing, views = [delivery] } = await planRuns(mapping, delivery, { ...deps, transform });
    return { ...base, steps: stepsOf(views), runs, ...(nothing === undefined ? {} : { nothing }) };
  } catch (error) {
    if (!(error instanceof MappingFailure)) throw error;
    const { problem, path, hint } = error;
    const failure = { code: problem.code, status: problem.status, message: problem.message, path, hint };
    return { ...base, steps: mapping.faulty ? [] : stepsOf([delivery]), runs: [], failure };
  }
}

type Called = NonNullable<DryStep["transform"]> & { readonly context: HookDelivery };

/** Records the input and result of each transform call, in the order of the elements. */
function watch(deps: MappedDeps): { readonly calls: Called[]; readonly transform: MappedDeps["transform"] } {
  const calls: Called[] = [];
  return {
    calls,
    async transform(call) {
      const { module, context } = call;
      const index = calls.push({ module, context }) - 1;
      try {
        const result = await deps.transform(call);
        calls[index] = { module, context, result };
        return result;
      } catch (error) {
        calls[index] = { module, context, error: reasonOf(error) };
        throw error;
      }
    },
  };
}

/** Tries all mappings, so that the result includes the one the operator expected. */
function ask(
  table: MappingTable,
  delivery: HookDelivery,
): { readonly mapping: Mapping | undefined; readonly asked: readonly Asked[] } {
  const here = new Set(table.way(delivery.path).mappings);
  let taken: Mapping | undefined;
  const asked = table.mappings.map((mapping): Asked => {
    const { id, at, preset } = mapping;
    const named = { id, at, preset };
    const why = whyNot(mapping, { delivery, here, taken });
    if (why !== undefined) return { ...named, taken: false, why };
    taken = mapping;
    return { ...named, taken: true };
  });
  return { mapping: taken, asked };
}

function whyNot(
  mapping: Mapping,
  {
    delivery,
    here,
    taken,
  }: { readonly delivery: HookDelivery; readonly here: ReadonlySet<Mapping>; readonly taken: Mapping | undefined },
): string | undefined {
  const method = methodOf(mapping);
  if (method !== (delivery.method ?? "POST")) return `it takes ${method} requests`;
  const matched = mapping.match.test(delivery);
  if (matched !== true) return matched;
  if (!here.has(mapping)) return "another mapping requires a signature at this path";
  return taken === undefined ? undefined : `${taken.id} comes first`;
}
