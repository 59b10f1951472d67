/** Selects the mapping for a request: the first one that accepts its body and matches. */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import type { HttpProblem } from "../../http/index.ts";
import { type Mapping, methodOf } from "./compiled-mapping.ts";
import { type BodyKind, checkBodyType, parsePayload } from "./payload.ts";
import { type HookDelivery, sourceOf } from "./webhook-delivery.ts";

/** A request with its raw body, before its mapping is known. */
export interface Posted {
  /** The path, without slashes at the ends. */
  readonly path: string;
  /** Absent: POST. The body of a GET is its query, as a form. */
  readonly method?: "GET";
  /** The headers that describe the body. */
  readonly type: Pick<IncomingHttpHeaders, "content-type">;
  /** The headers that may be shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The parsed body, if it is already known. */
  readonly payload?: Json;
  /** ISO 8601, UTC, with milliseconds. */
  readonly now: string;
}

export interface Chosen {
  readonly mapping: Mapping;
  readonly delivery: HookDelivery;
  readonly kind: BodyKind;
}

/**
 * Selects the mapping. `asked` is called for each mapping before it, with the reason why it does not match. Throws
 * `HttpProblem` for a body that cannot be read.
 */
export function chooseMapping(
  mappings: readonly Mapping[],
  posted: Posted,
  asked?: (mapping: Mapping, why: string) => void,
): Chosen | undefined {
  const read = createReader(posted);
  let refused: HttpProblem | undefined;
  let readable = mappings.length === 0;
  for (const mapping of mappings) {
    const method = methodOf(mapping);
    if (method !== (posted.method ?? "POST")) {
      asked?.(mapping, `it takes ${method} requests`);
      continue;
    }
    const kind = mapping.kinds.find((candidate) => checkBodyType(candidate, posted.type) === undefined);
    if (kind === undefined) {
      refused ??= checkBodyType(mapping.kinds[0] ?? "json", posted.type);
      asked?.(mapping, `it takes a body of kind ${mapping.kinds.join(" or ")}`);
      continue;
    }
    readable = true;
    const delivery = read(kind);
    const matched = mapping.match.test(delivery);
    if (matched === true) return { mapping, delivery, kind };
    asked?.(mapping, matched);
  }
  if (!readable && refused !== undefined) throw refused;
  return undefined;
}

/** Parses the body at most once for each kind. */
function createReader(posted: Posted): (kind: BodyKind) => HookDelivery {
  const known = new Map<BodyKind, HookDelivery>();
  return (kind) => {
    let delivery = known.get(kind);
    if (delivery === undefined) {
      delivery = deliveryOf(posted, posted.payload ?? parsePayload(kind, posted.body));
      known.set(kind, delivery);
    }
    return delivery;
  };
}

/** A request as mappings see it. */
export function deliveryOf({ path, method, headers, query, now }: Posted, payload: Json): HookDelivery {
  return { path, source: sourceOf(payload), headers, query, payload, now, method };
}
