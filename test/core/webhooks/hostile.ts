/** Payloads that aim at prototypes, at parsers and at whoever expands a text twice; and deliveries to carry them. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Json } from "../../../core/contract/types.ts";
import { parseJson } from "../../../core/http/body.ts";
import { type HookDelivery, readQuery, sourceOf } from "../../../core/webhooks/mapping/webhook-delivery.ts";

export const hostileKey = fc.constantFrom(
  ..."a b 0 1 length __proto__ constructor prototype toString hasOwnProperty payload path x.y polluted größe a-b".split(
    " ",
  ),
  "a b",
  'q"uote',
  "it's",
  "back\\slash",
  "}}",
  "{{path}}",
  "",
);

export const hostileText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    "{{path}}",
    "{{ payload }}",
    "{{",
    "}}",
    "$&",
    "$1",
    "#{a}",
    "\\",
    '"',
    "__proto__",
    "<%= a %>",
    "\u0000",
    "\ud83d\ude00",
  ),
);

const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      hostileText,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.array(fc.tuple(hostileKey, tie("tree")), { maxLength: 5 }).map(Object.fromEntries),
  ),
}));

/** As a request brings it: written as JSON, and read by the gateway's own parser. */
export const hostileJson: fc.Arbitrary<Json> = tree.map(
  (value) => parseJson(Buffer.from(JSON.stringify(value))) as Json,
);

export function deliveryOf(parts: {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string | HookDelivery["query"];
  readonly payload: Json;
}): HookDelivery {
  const { query = "" } = parts;
  return Object.freeze({
    path: parts.path ?? "test",
    source: sourceOf(parts.payload),
    headers: Object.freeze(Object.assign(Object.create(null), parts.headers)),
    query: typeof query === "string" ? readQuery(query) : query,
    payload: parts.payload,
    now: "2026-11-20T16:20:12.000Z",
  });
}

export function expectNoPollution(): void {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(([] as unknown as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
}
