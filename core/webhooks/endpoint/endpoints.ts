/** The hook endpoints: routes each address, checks requests before the body is read, and passes them on. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayConfig } from "../../config/index.ts";
import { askForBody, contentCoding, HttpProblem, readBody, unpackBody } from "../../http/index.ts";
import { parseBasePath, parseHookAddress, trimSlashes, withoutParameters } from "../mapping/address.ts";
import { reservedPaths } from "../mapping/check-mapping.ts";
import type { MappingTable, Way } from "../mapping/compiled-mapping.ts";
import type { MappedRequestDeps } from "./answer-delivery.ts";
import { type AnswerDeps, type Answers, type Call, createAnswers } from "./answers.ts";
import { createAuthenticate } from "./authenticate.ts";
import { judgeHeaders, notFound, type Target } from "./checks.ts";
import { createDirect } from "./direct.ts";
import { createMapped } from "./receive-delivery.ts";
import type { Recordings } from "./recordings.ts";
import type { Results } from "./results.ts";
import { createRunAnswers } from "./run-answer.ts";
import type { ShownChallenge } from "./shown-challenges.ts";
import { type ReceivedBody, tooManyBodies } from "./signed.ts";

export interface WebhookDeps extends AnswerDeps, Omit<MappedRequestDeps, "settings" | "log"> {
  readonly config: () => GatewayConfig;
  /** Requests the platform's own URL that confirms its subscription. */
  readonly confirm: (url: string) => Promise<void>;
  /** A platform's test contained a value that a person has to copy. */
  readonly onShown?: (shown: ShownChallenge) => void;
  /** Whether the hook server is on: enabled, without an error in its section. */
  readonly isOn: () => boolean;
  /** `undefined`: there is none, so that only mappings with a signature or token of their own take requests. */
  readonly token: () => string | undefined;
  /** The previous token, while it is still valid. */
  readonly previousToken?: () => string | undefined;
  /** A monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
  /** Compiled for the current configuration. */
  readonly mappings: () => MappingTable;
  readonly results: Results;
  readonly recordings?: Pick<Recordings, "offer">;
}

/**
 * Handles every address that no other route handles. The base path is compared for each request, because it may change
 * while the server runs. Everything happens before fastify reads the body: the limit may change too, and no byte is
 * read before the headers are checked.
 */
export function registerWebhooks(app: FastifyInstance, deps: WebhookDeps): void {
  const take = createEndpoints(deps);
  app.route({
    method: app.supportedMethods,
    url: "/*",
    onRequest(request, reply) {
      if (!take(request, reply)) reply.callNotFound();
    },
    handler(_request, reply) {
      reply.callNotFound();
    },
  });
}

/** Returns false if the request is not for a hook. */
function createEndpoints(deps: WebhookDeps): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const answers = createAnswers(deps);
  const authenticate = createAuthenticate({
    elapsed: deps.elapsed,
    clientAddress: deps.clientAddress,
    token: deps.token,
    ...(deps.previousToken && { previousToken: deps.previousToken }),
    onLimited: (client, seconds, { locked }) =>
      deps.log.warn(
        { client, seconds },
        locked
          ? "hook credentials of a client are no longer compared: it failed too often"
          : "hook authentication is refused for a client after repeated failures",
      ),
  });
  const asking = { ...deps, settings: () => deps.config().hooks };
  const answerRuns = createRunAnswers({ results: deps.results, answers, log: deps.log });
  const direct = createDirect({ ...asking, answerRuns, authenticate }, answers);
  const mapped = createMapped(asking, { answers, answerRuns, authenticate });
  let path: string | undefined;
  let base: string | undefined;

  /** Built-in endpoints come first, so a mapping cannot replace one. */
  const dispatch = (call: Call, target: Target, body: ReceivedBody): void => {
    try {
      if (target.kind === "wake") direct.wake(call, body.content);
      else if (target.kind === "agent") direct.agent(call, body.content);
      else if (target.kind === "mapped")
        mapped.take(call, target, body).catch((error: unknown) => answers.fail(call, error));
    } catch (error) {
      answers.fail(call, error);
    }
  };

  /** Unpacks a compressed body first. */
  const unpack = (call: Call, target: Target, sent: Buffer): void => {
    const coding = contentCoding(call.request.raw.headers);
    if (coding === undefined) {
      dispatch(call, target, { sent, content: sent });
      return;
    }
    unpackBody(sent, coding, deps.config().hooks.maxBodyBytes).then(
      (content) => dispatch(call, target, { sent, content }),
      (error: unknown) => answers.fail(call, error),
    );
  };

  return (request, reply) => {
    const { hooks } = deps.config();
    if (hooks.path !== path) {
      path = hooks.path;
      base = parseBasePath(path);
    }
    const raw = request.raw;
    const address = base === undefined || !deps.isOn() ? undefined : parseHookAddress(raw.url ?? "", base);
    if (address === undefined) return false;
    const { subPath } = address;
    const target = targetOf(subPath, deps);
    // The check of the sender reads the address as it was sent. All others see it without the secret.
    const query =
      target.kind === "mapped" ? withoutParameters(address.query, target.way.secretParameters) : address.query;
    const call: Call = { request, reply, subPath, query };
    const problem = judgeHeaders(raw, { subPath, query, target }, { authenticate, mapped });
    if (problem !== undefined) {
      if (problem instanceof HttpProblem) answers.refuse(call, problem);
      else if (target.kind === "mapped") mapped.answerTest(call, target, problem);
      return true;
    }
    if (target.kind === "result") {
      call.reply.header("cache-control", "no-store");
      answerResult(call, target.runId, { answers, results: deps.results });
      return true;
    }
    if (raw.method === "GET") {
      reply.header("cache-control", "no-store");
      dispatch(call, target, { sent: noBody, content: noBody });
      return true;
    }
    let giveUp = nothing;
    const drop = (): void => {
      giveUp();
      answers.drop(call, tooManyBodies);
    };
    const release = target.kind === "mapped" && target.way.signed ? mapped.hold(call, drop) : nothing;
    if (Number(raw.headers["content-length"] ?? 0) <= hooks.maxBodyBytes) askForBody(raw, reply.raw);
    giveUp = readBody(raw, hooks.maxBodyBytes, (tooLarge, body) => {
      release();
      if (tooLarge === null) unpack(call, target, body);
      else answers.refuse(call, tooLarge);
    });
    return true;
  };
}

const nothing = (): void => {};
const noBody = Buffer.alloc(0);

const wakeTarget: Target = { kind: "wake" };
const agentTarget: Target = { kind: "agent" };

/** Built-in names match exactly. */
function targetOf(subPath: string, { mappings }: WebhookDeps): Target {
  if (subPath === "wake") return wakeTarget;
  if (subPath === "agent") return agentTarget;
  if (subPath.startsWith("runs/")) return { kind: "result", runId: subPath.slice("runs/".length) };
  const path = trimSlashes(subPath);
  return { kind: "mapped", path, way: reservedPaths.has(path) ? nowhere : mappings().way(path) };
}

const nowhere: Way = {
  signed: false,
  mappings: [],
  signatures: [],
  secretParameters: new Set(),
  credential: "",
  challenges: [],
  kinds: [],
  methods: ["POST"],
};

function answerResult(
  call: Call,
  runId: string,
  { answers, results }: { readonly answers: Answers; readonly results: Results },
): void {
  results.get(runId).then(
    (result) => {
      if (result === undefined) answers.refuse(call, notFound);
      else answers.json(call, 200, JSON.stringify(result));
    },
    (error: unknown) => answers.fail(call, error),
  );
}
