/** Handles requests to mappings and presets once their headers have been checked: detects repetitions, and answers. */
import type { IncomingMessage } from "node:http";
import { reasonOf } from "../../contract/index.ts";
import { clientKey, parseJson } from "../../http/index.ts";
import { onEvent } from "../../listeners/index.ts";
import type { MappingTable } from "../mapping/compiled-mapping.ts";
import { isMultipart, parseMultipart } from "../mapping/multipart.ts";
import { readQuery, visibleHeaders } from "../mapping/webhook-delivery.ts";
import type { ChallengeAnswer } from "../signature/challenge.ts";
import { answerMapped, type MappedRequest, type MappedRequestDeps, NotTaken } from "./answer-delivery.ts";
import type { Answers, Call } from "./answers.ts";
import type { Authenticate } from "./authenticate.ts";
import { type MappedChecks, type MappedTarget, notFound } from "./checks.ts";
import { deliveryKey, namedDelivery } from "./idempotency.ts";
import { createMappedSenders } from "./judge-sender.ts";
import { createPendingBodies } from "./pending-bodies.ts";
import type { Recordings } from "./recordings.ts";
import type { AnswerRuns } from "./run-answer.ts";
import type { ShownChallenge } from "./shown-challenges.ts";
import type { ReceivedBody, Verified } from "./signed.ts";

export interface MappedEndpointDeps extends MappedRequestDeps {
  readonly mappings: () => MappingTable;
  readonly clientAddress: (request: IncomingMessage) => string;
  /** Requests the URL that confirms a subscription to its platform. */
  readonly confirm: (url: string) => Promise<void>;
  /** A platform's test contained a value that a person has to copy. */
  readonly onShown?: (shown: ShownChallenge) => void;
  /** A recording may be waiting for this delivery, whatever its result. */
  readonly recordings?: Pick<Recordings, "offer">;
}

export interface MappedEndpoint extends MappedChecks {
  answerTest(call: Call, target: MappedTarget, challenge: ChallengeAnswer): void;
  /**
   * Called before reading a body whose sender is not known yet. `drop` is called if the body has to make room. Returns
   * a function to call once it has been read.
   */
  hold(call: Call, drop: () => void): () => void;
  take(call: Call, target: MappedTarget, body: ReceivedBody): Promise<void>;
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
  const senders = createMappedSenders(deps, authenticate);

  function answerTest(call: Call, { path }: MappedTarget, challenge: ChallengeAnswer): void {
    const { status, contentType, body, headers = {}, confirm } = challenge;
    deps.log.info({ hook: path }, "a platform tested the address of a hook");
    call.reply
      .code(status)
      .headers(headers)
      .header("content-type", contentType)
      .header("x-content-type-options", "nosniff")
      .send(body);
    if (confirm === undefined) return;
    deps.confirm(confirm).then(
      () => deps.log.info({ hook: path }, "the subscription of a platform was confirmed"),
      (error: unknown) =>
        deps.log.warn({ hook: path, error: reasonOf(error) }, "the subscription of a platform could not be confirmed"),
    );
  }

  function requestOf(
    call: Call,
    { path, way }: MappedTarget,
    { body, verified }: { readonly body: Buffer; readonly verified: Verified | undefined },
  ): MappedRequest {
    const { headers, method } = call.request.raw;
    const mappings =
      verified === undefined ? way.mappings : way.mappings.filter(({ signedBy }) => signedBy === verified.signedBy);
    // A signed delivery is identified by what was signed; anyone could set the other headers.
    const compared = verified === undefined || verified.signedBy.signature.namedByHeaders === true;
    const name = compared ? namedDelivery(headers) : verified.deliveryId;
    const secret =
      verified === undefined ? () => authenticate.presented(call.request.raw) ?? "" : () => verified.signer;
    return {
      mappings,
      client: () => deps.clientAddress(call.request.raw),
      posted: {
        path,
        ...(method === "GET" ? { method, body: Buffer.from(call.query), type: {} } : { body, type: headers }),
        headers: visibleHeaders(headers, deps.mappings().hiddenHeaders),
        query: readQuery(call.query),
        now: isoNow(),
      },
      ...(name === undefined ? {} : { identity: { key: deliveryKey(name, { path, secret }), compared } }),
      ...(verified === undefined ? {} : { onNew: () => authenticate.proved(call.request.raw, way.credential) }),
    };
  }

  async function run(
    call: Call,
    target: MappedTarget,
    { request, verified }: { readonly request: MappedRequest; readonly verified: Verified | undefined },
  ): Promise<void> {
    const { way } = target;
    deps.recordings?.offer(request.posted, way.kinds);
    if (way.mappings.length === 0) {
      parseJson(request.posted.body);
      answers.refuse(call, notFound);
      return;
    }
    const trusted = () =>
      verified === undefined ? authenticate.trusts(call.request.raw) : senders.signs(verified, target.path);
    const answer = await answerMapped(request, deps);
    if (answer === undefined) answers.refuse(call, new NotTaken(request));
    else if (answer === "empty") answers.empty(call);
    else answerRuns(call, answer, trusted);
  }

  async function take(call: Call, target: MappedTarget, body: ReceivedBody): Promise<void> {
    const { way } = target;
    const { raw } = call.request;
    await senders.readKeys(raw, target);
    const verified = way.signed ? senders.verify(raw, target, { body, query: call.query }) : undefined;
    if (verified !== undefined && "status" in verified) {
      answerTest(call, target, verified);
      return;
    }
    const test =
      verified?.signedBy.signature.challenge?.(body.content, raw.headers) ??
      senders.testVerified({ raw, target, query: call.query }, body.content);
    if (test !== undefined) {
      answerTest(call, target, test);
      return;
    }
    const request = requestOf(call, target, { body: body.content, verified });
    const type = request.posted.type["content-type"];
    const parsed = isMultipart(type) && { payload: await parseMultipart(body.content, type) };
    await run(call, target, { request: { ...request, posted: { ...request.posted, ...parsed } }, verified });
  }

  return {
    judge: senders.judge,
    test: senders.test,
    held: senders.held,
    answerTest,
    hold(call, drop) {
      const release = pending.begin(clientKey(deps.clientAddress(call.request.raw)), drop);
      onEvent(call.reply.raw, "close", { source: "a client", handle: release });
      return release;
    },
    take,
  };
}

/** ISO 8601, UTC. Cached, because many requests arrive within one millisecond. */
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
