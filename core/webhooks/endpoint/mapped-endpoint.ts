/** Requests to mappings and presets, once their headers were judged: who sent them, and by which name a repetition is known. */
import type { IncomingMessage } from "node:http";
import { reasonOf } from "../../contract/index.ts";
import { clientKey, type HttpProblem, parseJson } from "../../http/index.ts";
import type { MappingTable } from "../mapping/mapping.ts";
import { readQuery, visibleHeaders } from "../mapping/webhook-delivery.ts";
import type { ChallengeAnswer } from "../signature/challenge.ts";
import { createSignatureFaults, SignatureProblem } from "../signature/signature-faults.ts";
import type { Unverified } from "../signature/verdict.ts";
import type { Answers, Call } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { addressRefused, type MappedChecks, type MappedTarget, notFound } from "./checks.ts";
import { deliveryKey, namedDelivery } from "./idempotency.ts";
import { answerMapped, type MappedRequest, type MappedRequestDeps } from "./mapped-requests.ts";
import { createPendingBodies } from "./pending-bodies.ts";
import type { Recordings } from "./recordings.ts";
import type { AnswerRuns } from "./run-answer.ts";
import { type Verified, verifySigned } from "./signed.ts";

export interface MappedEndpointDeps extends MappedRequestDeps {
  readonly mappings: () => MappingTable;
  readonly token: () => string | undefined;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Requests an address that confirms a subscription to its platform. */
  readonly confirm: (url: string) => Promise<void>;
  /** A recording may wait for this delivery, whatever becomes of it. */
  readonly recordings?: Pick<Recordings, "offer">;
}

const nothing = Buffer.alloc(0);

export interface MappedEndpoint extends MappedChecks {
  answerTest(call: Call, target: MappedTarget, challenge: ChallengeAnswer): void;
  /** Before a body is read whose sender is not known yet. `drop`: it has to make room. Returns what to call when it was read. */
  hold(call: Call, drop: () => void): () => void;
  /** Throws `HttpProblem` for what can be refused at once. */
  take(call: Call, target: MappedTarget, body: Buffer): void;
}

export function createMapped(
  deps: MappedEndpointDeps,
  {
    answers,
    answerRuns,
    authenticate,
  }: { readonly answers: Answers; readonly answerRuns: AnswerRuns; readonly authenticate: Authenticate },
): MappedEndpoint {
  const pending = createPendingBodies();
  const isoNow = createIsoClock(deps.now);
  const faults = createSignatureFaults(deps);

  function refusal(raw: IncomingMessage, { path, way }: MappedTarget, { fault, reason }: Unverified): HttpProblem {
    const authenticates = way.signatures.find(({ signature }) => signature.authenticates !== undefined)?.signature.authenticates;
    const problem = new SignatureProblem({ fault, reason }, authenticates);
    // Clients of Basic authentication ask first without a password, to learn that one is wanted: nothing was guessed.
    if (authenticates === "Basic" && fault === "missing") return problem;
    const counted = authenticate.failed(raw, way.credential, problem);
    // A client that is answered 429 has its own line.
    if (counted === problem) faults.report({ hook: path, client: deps.clientAddress(raw), fault, reason });
    return counted;
  }

  /** Counts a signature that does not fit as a wrong token is counted. One that fits may be a replay, so it proves nothing yet. */
  function verify(raw: IncomingMessage, target: MappedTarget, body: Buffer): Verified {
    const verified = verifySigned(target.way, { raw, body, now: deps.now() });
    if (!("ok" in verified)) return verified;
    throw refusal(raw, target, verified);
  }

  const isHeld = (raw: IncomingMessage, { way }: MappedTarget): boolean =>
    way.mappings.length > 0 && way.mappings.every(({ admits }) => admits?.(deps.clientAddress(raw)) === false);

  function answerTest(call: Call, { path }: MappedTarget, challenge: ChallengeAnswer): void {
    const { status, contentType, body, confirm } = challenge;
    call.reply.code(status).header("content-type", contentType).header("x-content-type-options", "nosniff").send(body);
    if (confirm === undefined) return;
    deps.confirm(confirm).then(
      () => deps.log.info({ hook: path }, "the subscription of a platform was confirmed"),
      (error: unknown) => deps.log.warn({ hook: path, error: reasonOf(error) }, "the subscription of a platform could not be confirmed"),
    );
  }

  /** Whether the secret that a delivery was signed with is still one of its path. */
  function signs({ signer }: Verified, path: string): boolean {
    return deps
      .mappings()
      .way(path)
      .signatures.some(({ signature }) => signature.signers.includes(signer));
  }

  function requestOf(
    call: Call,
    { path, way }: MappedTarget,
    { body, verified }: { readonly body: Buffer; readonly verified: Verified | undefined },
  ): MappedRequest {
    const { headers } = call.request.raw;
    const mappings = verified === undefined ? way.mappings : way.mappings.filter(({ signedBy }) => signedBy === verified.signedBy);
    // A signed delivery is known by what was signed; headers beside it could be anybody's.
    const compared = verified === undefined || verified.signedBy.signature.namedByHeaders === true;
    const name = compared ? namedDelivery(headers) : verified.deliveryId;
    const secret = verified === undefined ? () => deps.token() ?? "" : () => verified.signer;
    return {
      mappings,
      client: () => deps.clientAddress(call.request.raw),
      posted: {
        path,
        body,
        type: headers,
        headers: visibleHeaders(headers, deps.mappings().hiddenHeaders),
        query: readQuery(call.query),
        now: isoNow(),
      },
      ...(name === undefined ? {} : { identity: { key: deliveryKey(name, { path, secret }), compared } }),
      ...(verified === undefined ? {} : { onNew: () => authenticate.proved(call.request.raw, way.credential) }),
    };
  }

  return {
    judge(raw, target, query) {
      const { way } = target;
      const locked = authenticate.locked(raw, way.credential);
      if (locked !== undefined) return locked;
      if (isHeld(raw, target)) return addressRefused;
      for (const { signature } of way.signatures) {
        const greeted = signature.greet?.({ method: raw.method ?? "", query });
        if (greeted !== undefined) return "ok" in greeted ? refusal(raw, target, greeted) : greeted;
      }
      if (way.signatures.every(({ signature }) => signature.headersOnly === true)) {
        const verified = verifySigned(way, { raw, body: nothing, now: deps.now() });
        if ("ok" in verified) return refusal(raw, target, verified);
        authenticate.proved(raw, way.credential);
      }
      return undefined;
    },
    held: (raw, target) => (isHeld(raw, target) ? addressRefused : undefined),
    answerTest,
    hold(call, drop) {
      const release = pending.begin(clientKey(deps.clientAddress(call.request.raw)), drop);
      call.reply.raw.once("close", release);
      return release;
    },
    take(call, target, body) {
      const { way } = target;
      const verified = way.signed ? verify(call.request.raw, target, body) : undefined;
      const test = verified?.signedBy.signature.challenge?.(body, call.request.raw.headers);
      if (test !== undefined) {
        deps.log.info({ hook: target.path }, "a platform tested the address of a hook");
        answerTest(call, target, test);
        return;
      }
      const request = requestOf(call, target, { body, verified });
      deps.recordings?.offer(request.posted, way.kinds);
      if (way.mappings.length === 0) {
        parseJson(body);
        answers.refuse(call, notFound);
        return;
      }
      const trusted = () => (verified === undefined ? authenticate.trusts(call.request.raw) : signs(verified, target.path));
      answerMapped(request, deps).then(
        (answer) => {
          if (answer === undefined) answers.refuse(call, notFound);
          else if (answer === "empty") answers.empty(call);
          else answerRuns(call, answer, trusted);
        },
        (error: unknown) => answers.fail(call, error),
      );
    },
  };
}

/** ISO 8601, UTC; many requests come within one millisecond. */
function createIsoClock(now: () => number): () => string {
  let at = Number.NaN;
  let text = "";
  return () => {
    const time = now();
    if (time !== at) {
      at = time;
      text = new Date(time).toISOString();
    }
    return text;
  };
}
