/** The checks that need no byte of the body, in their order. Everything is refused that no check let through. */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../http/problem.ts";
import { product } from "../product.ts";
import { hasTokenParameter, isBlankPath } from "./address.ts";
import type { Authenticate } from "./authenticate.ts";
import type { Way } from "./mapping.ts";
import { type BodyKind, checkBodyType } from "./payload.ts";

const takesPost = new HttpProblem("method_not_allowed", "Hook endpoints take POST.", { allow: "POST" });
const takesGet = new HttpProblem("method_not_allowed", "The result of a run is asked for with GET.", { allow: "GET" });
const queryToken = new HttpProblem(
  "query_token",
  `The token must not stand in the address: send it as Authorization: Bearer, or as ${product.tokenHeader}.`,
);
const originRefused = new HttpProblem("origin_refused", "Hook endpoints refuse requests from web pages.");
const notFound = new HttpProblem("not_found", "There is nothing at this address.");
const switchedOff = new HttpProblem("unavailable", "This hook is switched off by an error in its configuration; send it again later.", {
  "retry-after": "300",
});

/** What an address leads to. */
export type Target =
  | { readonly kind: "wake" | "agent" }
  | { readonly kind: "result"; readonly runId: string }
  /** `path`: without slashes at its ends. */
  | { readonly kind: "mapped"; readonly path: string; readonly way: Way };

const onlyJson: readonly BodyKind[] = ["json"];

export function judgeHeaders(
  raw: IncomingMessage,
  { subPath, query, target }: { readonly subPath: string; readonly query: string; readonly target: Target },
  authenticate: Authenticate,
): HttpProblem | undefined {
  const method = target.kind === "result" ? "GET" : "POST";
  if (raw.method !== method) return method === "POST" ? takesPost : takesGet;
  if (query !== "" && hasTokenParameter(query)) return queryToken;
  if (raw.headers.origin !== undefined) return originRefused;
  const way = target.kind === "mapped" ? target.way : undefined;
  // Where a signature is asked for, the token opens nothing.
  if (way?.signed === true) {
    return way.signatures.length === 0 ? switchedOff : (authenticate.locked(raw, way.credential) ?? checkType(way, raw));
  }
  const unauthenticated = authenticate.token(raw);
  if (unauthenticated !== undefined) return unauthenticated;
  if (isBlankPath(subPath)) return notFound;
  return target.kind === "result" ? undefined : checkType(way, raw);
}

/** One of the mappings must take the declared type; what no mapping takes is judged as JSON. */
function checkType(way: Way | undefined, { headers }: IncomingMessage): HttpProblem | undefined {
  const kinds = way === undefined || way.kinds.length === 0 ? onlyJson : way.kinds;
  let first: HttpProblem | undefined;
  for (const kind of kinds) {
    const problem = checkBodyType(kind, headers);
    if (problem === undefined) return undefined;
    first ??= problem;
  }
  return first;
}

export { notFound };
