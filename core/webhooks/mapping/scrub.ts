/** Removes apparent secrets from a delivery, so that it can be saved to a file and shared. */
import { isSecretName } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import { exactDigits, parseExactJson } from "../../http/index.ts";
import { createRedactor } from "../../log/index.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

const removed = "[removed]";

/** Field names that suggest a secret, in addition to those in configurations. */
const moreNames =
  /(^|[_-])(auth|bearer|jwt|otp|pin|pwd|pass|sig|csrf|xsrf|session)s?$|signature|hmac|(session|auth|csrf|api|access|secret|private)[_-]?(id|key|token|code|hash)s?$/i;

/** Patterns that are secrets under any name. */
const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g,
  /(?<=\b(?:Bearer|Basic) )[\w.~+/-]{8,}=*/gi,
  /(?<=:\/\/)[^/?#\s@"]{1,512}(?=@)/g,
];
const addressParameter = /([?&;]([\w.[\]-]{1,64})=)([^&;#\s"'<>]+)/g;

/** Maximum depth. A text may contain JSON of any depth, but deeper values are of no use to people. */
const maxDepth = 128;

export interface Scrubbed {
  readonly delivery: HookDelivery;
  /** How many values were removed completely or partly. */
  readonly removed: number;
}

/**
 * Removes secrets. `secrets` are the secrets of the configuration. Field names are kept, so that the file still shows
 * the structure.
 */
export function scrubDelivery(delivery: HookDelivery, secrets: Iterable<string>): Scrubbed {
  const known = [...secrets];
  const withoutKnown = createRedactor(() => known, removed);
  let count = 0;

  const texts = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, String(field(name, text, 0))]));

  const remove = (): string => {
    count += 1;
    return removed;
  };

  const field = (name: string, value: Json, depth: number): Json =>
    holdsSecret(name, value) ? remove() : clean(value, depth);

  const clean = (value: Json, depth: number): Json => {
    if (typeof value === "string") return text(value, depth);
    if (typeof value !== "object" || value === null || exactDigits(value) !== undefined) return value;
    if (depth === maxDepth) return remove();
    if (Array.isArray(value)) return value.map((inner) => clean(inner, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, field(name, inner, depth + 1)]));
  };

  const text = (value: string, depth = 0): string => {
    const inner = nested(value);
    const before = count;
    const plain = inner === undefined ? value : JSON.stringify(clean(inner, depth));
    const cleaned = withoutShapes(withoutKnown(count > before ? plain : value));
    if (count === before && cleaned !== value) count += 1;
    return cleaned;
  };

  const { path, headers, query, payload, source, now } = delivery;
  const scrubbed = {
    path: text(path),
    headers: texts(headers),
    query: texts(query),
    payload: clean(payload, 0),
    source: text(source),
    now,
    ...(delivery.method && { method: delivery.method }),
  };
  return { delivery: scrubbed, removed: count };
}

/** Whether a field is likely to contain a secret. A count, such as `tokens: 12`, is not one. */
function holdsSecret(name: string, value: Json): boolean {
  if (value === null || typeof value === "boolean" || value === "") return false;
  if ((typeof value === "number" || exactDigits(value) !== undefined) && name.endsWith("s")) return false;
  // Splits names such as `auth[token]` and `accessToken` into words. Of a long name, only the end is checked.
  const words = name.slice(-100).replace(/([a-z0-9])([A-Z])/g, "$1_$2");
  const plain = words
    .split(/[[\]._\s]+/)
    .filter((word) => word !== "")
    .join("_");
  return (
    isSecretName(plain) || ((typeof value !== "object" || exactDigits(value) !== undefined) && moreNames.test(plain))
  );
}

/** Parses JSON inside a text, which some senders of forms use. */
function nested(value: string): Json | undefined {
  if (!/^\s*[[{]/.test(value)) return undefined;
  try {
    return parseExactJson(value) as Json;
  } catch {
    return undefined;
  }
}

function withoutShapes(value: string): string {
  const plain = shapes.reduce((left, shape) => left.replace(shape, removed), value);
  return plain.replace(addressParameter, (whole, before: string, name: string, inner: string) =>
    holdsSecret(name, inner) && inner !== removed ? before + removed : whole,
  );
}
