/** Webhooks: endpoints, mappings, signatures, and the tools to try them. */

export { registerWebhooks, type WebhookDeps } from "./endpoint/endpoints.ts";
export { acceptHanded, type HandedDelivery } from "./endpoint/handed-delivery.ts";
export { handedResult } from "./endpoint/handed-result.ts";
export { createRecordings, type Recordings } from "./endpoint/recordings.ts";
export { createRefusals } from "./endpoint/refusals.ts";
export { createRepetitions } from "./endpoint/repetitions.ts";
export { createResults, type Results, storedReply } from "./endpoint/results.ts";
export { absentOf, parseHookEvent } from "./endpoint/run-inbound.ts";
export { addShownChallenge } from "./endpoint/shown-challenges.ts";
export { createAccept } from "./endpoint/without-secrets.ts";
export { chooseMapping } from "./mapping/choose.ts";
export { compileMappings } from "./mapping/compile-mappings.ts";
export { compileParts, type MappingSettings, type MappingTable } from "./mapping/compiled-mapping.ts";
export { type MappedDeps, type MappedRun, MappingFailure, planRuns } from "./mapping/plan-runs.ts";
export { visibleHeaders } from "./mapping/webhook-delivery.ts";
export { hookPolicies } from "./runs/policy.ts";
export { hookRoutes } from "./workbench/management.ts";
export { replayDelivery } from "./workbench/replay.ts";
