/** Which mapping takes a request: the first that takes its body and whose match holds. */
import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../contract/index.ts";
import type { HttpProblem } from "../../http/index.ts";
import type { Mapping } from "./mapping.ts";
import { type BodyKind, checkBodyType, parsePayload } from "./payload.ts";
import { type HookDelivery, sourceOf } from "./webhook-delivery.ts";

/** One request with its bytes, before it is known which mapping takes it. */
export interface Posted {
  /** Without slashes at its ends. */
  readonly path: string;
  /** Those that say what the body is. */
  readonly type: Pick<IncomingHttpHeaders, "content-type" | "content-encoding">;
  /** Those that may be shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** What was read of the body, where it is known already. */
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
 * `asked`: called with the reason why each mapping before the chosen one did not take the request. Throws `HttpProblem` for a body that
 * cannot be read.
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

/** Parses the body once for each kind. */
function createReader({ path, headers, query, body, payload: given, now }: Posted): (kind: BodyKind) => HookDelivery {
  const known = new Map<BodyKind, HookDelivery>();
  return (kind) => {
    let delivery = known.get(kind);
    if (delivery === undefined) {
      const payload = given ?? parsePayload(kind, body);
      delivery = { path, source: sourceOf(payload), headers, query, payload, now };
      known.set(kind, delivery);
    }
    return delivery;
  };
}
