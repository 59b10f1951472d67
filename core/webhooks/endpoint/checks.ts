/** The checks that need no byte of the body, in order. A request that no check admits is refused. */
import type { IncomingMessage } from "node:http";
import { product } from "../../contract/index.ts";
import { checkCoding, checkJsonType, HttpProblem } from "../../http/index.ts";
import { hasTokenParameter, isBlankPath } from "../mapping/address.ts";
import type { HookMethod, Way } from "../mapping/compiled-mapping.ts";
import { checkBodyType } from "../mapping/payload.ts";
import type { ChallengeAnswer } from "../signature/challenge.ts";
import type { Authenticate } from "./authenticate.ts";

const takesPost = new HttpProblem("method_not_allowed", "Hook endpoints accept POST only.", { allow: "POST" });
const takesGet = new HttpProblem("method_not_allowed", "Use GET for the result of a run.", { allow: "GET" });
const queryToken = new HttpProblem(
  "query_token",
  `The token must not be part of the address: send it as Authorization: Bearer, or as ${product.tokenHeader}.`,
);
const originRefused = new HttpProblem("origin_refused", "Hook endpoints refuse requests from web pages.");
const notFound = new HttpProblem("not_found", "There is nothing at this address.");
const addressRefused = new HttpProblem("address_not_allowed", "This hook does not accept requests from this address.");
const switchedOff = new HttpProblem(
  "unavailable",
  "This hook is switched off by an error in its configuration; send it again later.",
  {
    "retry-after": "300",
  },
);

/** What an address leads to. */
export type Target =
  | { readonly kind: "wake" | "agent" }
  | { readonly kind: "result"; readonly runId: string }
  /** `path` has no slashes at its ends. */
  | { readonly kind: "mapped"; readonly path: string; readonly way: Way };

export type MappedTarget = Extract<Target, { readonly kind: "mapped" }>;

export interface MappedChecks {
  /**
   * Checks the headers and query of a request to a signed path: returns the refusal, the answer to a platform's test,
   * or nothing.
   */
  judge(raw: IncomingMessage, target: MappedTarget, query: string): HttpProblem | ChallengeAnswer | undefined;
  /** Answers a declared test of an unsigned path that needs no body. */
  test(raw: IncomingMessage, target: MappedTarget, query: string): HttpProblem | ChallengeAnswer | undefined;
  /** The problem of a client whose address no mapping of the path admits. */
  held(raw: IncomingMessage, target: MappedTarget): HttpProblem | undefined;
}

export function judgeHeaders(
  raw: IncomingMessage,
  { subPath, query, target }: { readonly subPath: string; readonly query: string; readonly target: Target },
  { authenticate, mapped }: { readonly authenticate: Authenticate; readonly mapped: MappedChecks },
): HttpProblem | ChallengeAnswer | undefined {
  const methods = methodsOf(target);
  const wrongMethod = methods.some((method) => method === raw.method) ? undefined : refuseMethod(target, methods);
  if (wrongMethod !== undefined && !isTested(target, raw.method)) return wrongMethod;
  if (query !== "" && hasTokenParameter(query)) return queryToken;
  if (raw.headers.origin !== undefined) return originRefused;
  const way = target.kind === "mapped" ? target.way : undefined;
  // If the mapping requires a signature, the token authorizes nothing.
  if (target.kind === "mapped" && target.way.signed) {
    if (target.way.signatures.length === 0) return switchedOff;
    const judged = mapped.judge(raw, target, query);
    if (judged !== undefined) return judged;
    return wrongMethod ?? checkType(target.way, raw);
  }
  const test = target.kind === "mapped" ? mapped.test(raw, target, query) : undefined;
  if (test !== undefined || wrongMethod !== undefined) return test ?? wrongMethod;
  const unauthenticated = authenticate.token(raw);
  if (unauthenticated !== undefined) return unauthenticated;
  if (isBlankPath(subPath)) return notFound;
  if (target.kind === "result") return undefined;
  return (target.kind === "mapped" ? mapped.held(raw, target) : undefined) ?? checkType(way, raw);
}

const methodsOf = (target: Target): readonly HookMethod[] => {
  if (target.kind === "mapped") return target.way.methods;
  return target.kind === "result" ? ["GET"] : ["POST"];
};

function refuseMethod({ kind }: Target, methods: readonly HookMethod[]): HttpProblem {
  if (kind === "result") return takesGet;
  if (methods.length === 1 && methods[0] === "POST") return takesPost;
  return new HttpProblem("method_not_allowed", `This hook accepts ${methods.join(" and ")} only.`, {
    allow: methods.join(", "),
  });
}

/** Some platforms test an address by another method. */
const isTested = (target: Target, method: string | undefined): boolean =>
  target.kind === "mapped" &&
  (target.way.challenges.some(({ challenge }) => challenge?.method === method) ||
    (method === "GET" && target.way.signatures.some(({ signature }) => signature.greet !== undefined)));

/** One of the mappings must accept the declared type; a type that no mapping accepts is checked as JSON. */
function checkType(way: Way | undefined, { method, headers }: IncomingMessage): HttpProblem | undefined {
  if (method === "GET") return undefined;
  const compressed = checkCoding(headers);
  if (compressed !== undefined) return compressed;
  if (way === undefined || way.kinds.length === 0) return checkJsonType(headers);
  let first: HttpProblem | undefined;
  for (const kind of way.kinds) {
    const problem = checkBodyType(kind, headers);
    if (problem === undefined) return undefined;
    first ??= problem;
  }
  return first;
}

export { addressRefused, notFound };
