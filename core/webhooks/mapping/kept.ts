/** What the body of a stored hook event says about how it came. */

import type { Json, TurnRequest } from "../../contract/index.ts";
import type { EventReport } from "../../state/index.ts";
import type { KeptDelivery } from "./mapped-events.ts";

export interface KeptHook {
  /** Id of the mapping, or the name of the endpoint. */
  readonly hook: string;
  readonly mapped: boolean;
  /** What the run begins with, as it is handed over; absent: nothing ran. */
  readonly text?: string;
  readonly request?: TurnRequest;
  /** Absent for the built-in endpoints. */
  readonly delivery?: KeptDelivery;
}

/** Whether an event is one that a sender caused: not a run's summary, which is the gateway's own. */
export function isDelivery({ source, kind }: Pick<EventReport, "source" | "kind">): boolean {
  return source === "hooks" && kind !== "summary";
}

/** Kept events were written by this program, but perhaps by another version of it: what is missing is left out. */
export function readKept(body: Json | null, kind: string): KeptHook {
  const fields = isRecord(body) ? body : {};
  const { mapping, message, text, request, delivery } = fields;
  const said = typeof message === "string" ? message : text;
  return {
    hook: typeof mapping === "string" ? mapping : isRecord(delivery) && typeof delivery.path === "string" ? delivery.path : kind,
    mapped: delivery !== undefined,
    ...(typeof said === "string" ? { text: said } : {}),
    ...(isRecord(request) ? { request: request as TurnRequest } : {}),
    ...(isRecord(delivery) ? { delivery: delivery as unknown as KeptDelivery } : {}),
  };
}

/** How a kept delivery came, in words; `undefined`: it is not one, or came through an endpoint that is not a mapping. */
export function describeAccess({ delivery }: KeptHook): string | undefined {
  if (delivery === undefined) return undefined;
  if (delivery.handed !== undefined) return `handed in by the plugin ${delivery.handed.by}`;
  return delivery.signature === undefined ? "hook token" : `signature ${delivery.signature} verified`;
}

function isRecord(value: Json | undefined | null): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
