/** A stored delivery as mappings saw it when it arrived, so that it can be tried again. */
import type { Json } from "../../contract/index.ts";
import { parsePayload } from "../mapping/payload.ts";
import type { StoredDelivery } from "../mapping/run-events.ts";
import { type HookDelivery, sourceOf } from "../mapping/webhook-delivery.ts";

/** Throws `HttpProblem` if the stored body cannot be read, which another version of this program has written. */
export function deliveryOfStored(stored: StoredDelivery, now: string): HookDelivery {
  const { path, method, headers, query, body, kind, sentAs } = stored;
  const payload: Json = parsePayload(sentAs === undefined ? kind : "json", Buffer.from(body));
  return { path, source: sourceOf(payload), headers, query, payload, now, ...(method && { method }) };
}
