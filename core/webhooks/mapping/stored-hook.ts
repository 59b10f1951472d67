/** Reads from the body of a stored hook event how the event arrived. */

import type { Json, TurnRequest } from "../../contract/index.ts";
import type { EventReport } from "../../state/index.ts";
import type { StoredDelivery } from "./run-events.ts";

export interface StoredHook {
  /** The id of the mapping, or the name of the endpoint. */
  readonly hook: string;
  readonly mapped: boolean;
  /** The text that the run begins with; absent if nothing ran. */
  readonly text?: string;
  readonly request?: TurnRequest;
  /** The stored delivery; absent for the built-in endpoints. */
  readonly delivery?: StoredDelivery;
}

/** Whether a sender caused the event. False for a run's summary, which the gateway creates itself. */
export function isDelivery({ source, kind }: Pick<EventReport, "source" | "kind">): boolean {
  return source === "hooks" && kind !== "summary";
}

/** Reads a stored body. Another version of this program may have written it, so missing fields are omitted. */
export function readStoredHook(body: Json | null, kind: string): StoredHook {
  const fields = isRecord(body) ? body : {};
  const { mapping, message, text, request, delivery } = fields;
  const content = typeof message === "string" ? message : text;
  return {
    hook:
      typeof mapping === "string"
        ? mapping
        : isRecord(delivery) && typeof delivery.path === "string"
          ? delivery.path
          : kind,
    mapped: delivery !== undefined,
    ...(typeof content === "string" ? { text: content } : {}),
    ...(isRecord(request) ? { request: request as TurnRequest } : {}),
    ...(isRecord(delivery) ? { delivery: delivery as unknown as StoredDelivery } : {}),
  };
}

/** Describes how a stored delivery arrived; `undefined` if it is not a delivery to a mapping. */
export function describeAccess({ delivery }: StoredHook): string | undefined {
  if (delivery === undefined) return undefined;
  if (delivery.handed !== undefined) return `submitted by the plugin ${delivery.handed.by}`;
  return delivery.signature === undefined ? "hook token" : `signature ${delivery.signature} verified`;
}

function isRecord(value: Json | undefined | null): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
