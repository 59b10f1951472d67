/** The HTTP server: access checks, request bodies and responses. */

export { exactDigits, parseExactJson } from "../contract/index.ts";
export { type Attempts, type AttemptsOptions, createAttempts, createCredentialName } from "./attempts.ts";
export { askForBody, checkJsonType, checkMediaType, parseJson, readBody } from "./body.ts";
export { createJudgeCaller } from "./callers.ts";
export { checkTrustedProxy, clientKey, createAddressList, createClientAddress } from "./client-address.ts";
export { onClientEnd } from "./client-end.ts";
export { checkCoding, contentCoding, unpackBody } from "./content-encoding.ts";
export { createTokenCheck, isSameDigest, presentedToken } from "./credentials.ts";
export { gatewayToken } from "./gateway-token.ts";
export { checkListening } from "./listening.ts";
export { createMetrics, type Gauge, type Metrics } from "./metrics.ts";
export { HttpProblem, jsonType, type ProblemCode } from "./problem.ts";
export { routeAddress } from "./route-table.ts";
export { sendProblem } from "./send.ts";
export { createHttpServer, type HttpServer } from "./server.ts";
