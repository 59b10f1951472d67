/**
 * The reference for `wake`: our own server and hook endpoints with all their checks, and a store that stores nothing.
 * Prints `ready <address>`.
 */
import { checkConfig } from "../core/config/reading/load.ts";
import { createHttpServer } from "../core/http/server.ts";
import { createLog } from "../core/log/log.ts";
import { createIds } from "../core/state/ids.ts";
import { registerWebhooks } from "../core/webhooks/endpoint/endpoints.ts";
import { createResults } from "../core/webhooks/endpoint/results.ts";
import { createTable } from "../core/webhooks/mapping/compiled-mapping.ts";

const [token = ""] = process.argv.slice(2);
const text = JSON.stringify({ gateway: { port: 0 }, hooks: { enabled: true, token } });
const { config } = checkConfig({ text, file: "bench.json", env: {} });
const now = Date.now;
const { log } = createLog({ level: "info", secrets: () => [token], print: "none" });
const newId = createIds(now);
const server = createHttpServer({
  config: () => config,
  log,
  elapsed: () => performance.now(),
  readiness: () => ({ ready: true, reasons: [] }),
  metrics: async () => "",
  gatewayToken: () => "not used here",
});
const table = createTable([], { signedPaths: new Set(), problems: [] });
registerWebhooks(server.app, {
  config: () => config,
  isOn: () => true,
  token: () => token,
  accept: async () => ({ eventId: newId(), duplicate: false }),
  first: async () => null,
  body: async () => null,
  budgetOf: async () => undefined,
  channels: {
    known: () => false,
    available: () => false,
    list: () => [],
    meant: () => undefined,
    platformProblem: () => undefined,
    hasLastRecipient: async () => false,
  },
  agents: { exists: () => true, defaultId: () => "main" },
  models: { allowed: () => true },
  mappings: () => table,
  transform: async () => undefined,
  confirm: async () => {},
  results: createResults({ store: { event: async () => null }, exposeReplies: () => false }),
  clientAddress: server.clientAddress,
  newId,
  now,
  elapsed: () => performance.now(),
  log,
});
console.log(`ready ${(await server.listen()).url}`);
