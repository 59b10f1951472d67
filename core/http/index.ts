/** The HTTP server: access checks, request bodies and responses. */

export { exactDigits, parseExactJson } from "../contract/index.ts";
export { type Attempts, type AttemptsOptions, createAttempts, createCredentialName } from "./attempts.ts";
export { askForBody, checkJsonType, checkMediaType, parseJson, readBody } from "./body.ts";
export { createLinks, type Links, linkLifetimeMs } from "./browsers/links.ts";
export { includesRole, isRole, type Role } from "./browsers/roles.ts";
export { answerHeaders } from "./browsers/same-origin.ts";
export { createSessions, type Sessions } from "./browsers/sessions.ts";
export { createJudgeCaller, type JudgeCaller, refusalOf } from "./callers.ts";
export type { AnsweringRoute, PostedHead, PostedRequest } from "./channel-routes.ts";
export { checkTrustedProxy, clientKey, createAddressList, createClientAddress } from "./client-address.ts";
export { onClientEnd } from "./client-end.ts";
export { checkCoding, contentCoding, unpackBody } from "./content-encoding.ts";
export { createTokenCheck, isSameDigest, presentedToken } from "./credentials.ts";
export type { NumberedEvent } from "./event-stream.ts";
export { gatewayToken } from "./gateway-token.ts";
export { checkListening } from "./listening.ts";
export { createMetrics, type Gauge, type Metrics } from "./metrics.ts";
export { HttpProblem, jsonType, type ProblemCode } from "./problem.ts";
export type { OwnAnswer, OwnRequest, OwnRoute } from "./route.ts";
export { routeAddress } from "./route-table.ts";
export { sendProblem } from "./send.ts";
export { createHttpServer, type HttpServer } from "./server.ts";
