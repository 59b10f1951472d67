/** Requests to mappings and presets, once their headers were judged: who sent them, and by which name a repetition is known. */
import type { IncomingMessage } from "node:http";
import { clientKey } from "../http/client-address.ts";
import { parseJson } from "../http/json.ts";
import type { Answers, Call } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { notFound, type Target } from "./checks.ts";
import { readQuery, visibleHeaders } from "./delivery.ts";
import { deliveryKey, namedDelivery } from "./idempotency.ts";
import { answerMapped, type MappedRequest, type MappedRequestDeps } from "./mapped-requests.ts";
import type { MappingTable } from "./mapping.ts";
import { createPendingBodies } from "./pending-bodies.ts";
import type { Recordings } from "./recordings.ts";
import type { AnswerRuns } from "./run-answer.ts";
import { createSignatureFaults, SignatureProblem } from "./signature-faults.ts";
import { type Verified, verifySigned } from "./signed.ts";

type MappedTarget = Extract<Target, { kind: "mapped" }>;

export interface MappedEndpointDeps extends MappedRequestDeps {
  readonly mappings: () => MappingTable;
  readonly token: () => string | undefined;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Somebody may be waiting for what comes here, whatever becomes of it. */
  readonly recordings?: Pick<Recordings, "offer">;
}

export interface MappedEndpoint {
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

  /** Counts a signature that does not fit as a wrong token is counted. One that fits may be a replay, so it proves nothing yet. */
  function verify(raw: IncomingMessage, { path, way }: MappedTarget, body: Buffer): Verified {
    const verified = verifySigned(way, { raw, body, now: deps.now() });
    if (!("ok" in verified)) return verified;
    const problem = authenticate.failed(raw, way.credential, new SignatureProblem(verified));
    // A client that is answered 429 has its own line.
    if (problem instanceof SignatureProblem) {
      const { fault, reason } = verified;
      faults.report({ hook: path, client: deps.clientAddress(raw), fault, reason });
    }
    throw problem;
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
    const name = verified === undefined ? namedDelivery(headers) : verified.deliveryId;
    const secret = verified === undefined ? () => deps.token() ?? "" : () => verified.signer;
    return {
      mappings,
      posted: {
        path,
        body,
        type: headers,
        headers: visibleHeaders(headers, deps.mappings().hiddenHeaders),
        query: readQuery(call.query),
        now: isoNow(),
      },
      ...(name === undefined ? {} : { identity: { key: deliveryKey(name, { path, secret }), compared: verified === undefined } }),
      ...(verified === undefined ? {} : { onNew: () => authenticate.proved(call.request.raw, way.credential) }),
    };
  }

  return {
    hold(call, drop) {
      const release = pending.begin(clientKey(deps.clientAddress(call.request.raw)), drop);
      call.reply.raw.once("close", release);
      return release;
    },
    take(call, target, body) {
      const { way } = target;
      const verified = way.signed ? verify(call.request.raw, target, body) : undefined;
      if (verified?.challenge !== undefined) {
        const { status, contentType, body: text } = verified.challenge;
        call.reply.code(status).header("content-type", contentType).send(text);
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
