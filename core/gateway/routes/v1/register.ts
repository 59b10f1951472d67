/**
 * The routes of the console and of programs that look at a gateway, under `/gateway/v1/`. They answer what the command
 * line prints with `--json`. The code behind them is imported with the first request.
 */
import { cannotStore, HostError } from "../../../contract/index.ts";
import {
  answerHeaders,
  type HttpServer,
  type OwnAnswer,
  type OwnRequest,
  type OwnRoute,
  type Role,
} from "../../../http/index.ts";
import type { RouteAccess } from "../../../sdk/contract.ts";
import type { V1Deps } from "./deps.ts";
import type { Live } from "./live.ts";

type Handler = (deps: V1Deps, request: OwnRequest) => OwnAnswer | Promise<OwnAnswer>;

const reading = () => import("./reading.ts");
const acting = () => import("./acting.ts");
const waiting = () => import("./waiting.ts");
const panels = () => import("./panels.ts");
const config = () => import("./config.ts");
const hooks = () => import("./hooks.ts");
const models = () => import("./models.ts");

/**
 * For every role. A paired device reads those of `device`: how the gateway is, and no words of people. What contains
 * messages, log lines or settings is for the gateway token and for browsers.
 */
const looks: readonly (readonly [access: RouteAccess, path: string, load: () => Promise<Handler>])[] = [
  ["device", "overview", async () => (await reading()).readOverview],
  ["device", "events", async () => (await reading()).listEvents],
  ["gateway", "events/:id", async () => (await reading()).explainEvent],
  ["gateway", "events/:id/text", async () => (await reading()).explainEventAsText],
  ["device", "failed", async () => (await reading()).readFailed],
  ["device", "waiting", async () => (await waiting()).readWaiting],
  ["gateway", "sessions", async () => (await reading()).listSessions],
  ["gateway", "sessions/:key", async () => (await reading()).showSession],
  ["device", "usage", async () => (await reading()).showUsage],
  ["gateway", "logs", async () => (await reading()).readLogs],
  ["gateway", "acts", async () => (await reading()).listActs],
  ["gateway", "deliveries", async () => (await hooks()).listDeliveries],
  ["gateway", "deliveries/:id", async () => (await hooks()).showDelivery],
  ["gateway", "refusals", async () => (await hooks()).listRefusals],
  ["gateway", "hooks", async () => (await hooks()).listHooks],
  ["gateway", "models", async () => (await models()).listModels],
  ["gateway", "panels", async () => (await panels()).listPanels],
];

/** What is read only to be changed. */
const ofAdmins: readonly (readonly [path: string, load: () => Promise<Handler>])[] = [
  ["browsers", async () => (await reading()).listBrowsers],
  ["config", async () => (await config()).readConfig],
  ["config/form", async () => (await config()).readForm],
  ["hooks/mappings", async () => (await hooks()).listMappings],
];

const acts: readonly (readonly [method: "POST" | "DELETE", path: string, role: Role, load: () => Promise<Handler>])[] =
  [
    ["POST", "events/:id/retry", "operate", async () => (await acting()).retryEvent],
    ["POST", "failed/retry", "operate", async () => (await acting()).retryFailed],
    ["POST", "approvals/:code", "admin", async () => (await acting()).answerApproval],
    ["POST", "pairing/approve", "admin", async () => (await acting()).approvePairing],
    ["POST", "pairing/deny", "admin", async () => (await acting()).denyPairing],
    // The plugin says which role an act needs.
    ["POST", "panels/:plugin/:panel/:act", "operate", async () => (await panels()).pressInPanel],
    ["POST", "deliveries/:id/replay", "operate", async () => (await hooks()).mapAgain],
    ["POST", "hooks/test", "operate", async () => (await hooks()).testDelivery],
    ["POST", "hooks/mappings", "admin", async () => (await hooks()).saveMapping],
    ["POST", "models/test", "operate", async () => (await models()).testModel],
    ["POST", "budgets/add", "admin", async () => (await models()).addToBudget],
    ["POST", "config", "admin", async () => (await config()).replaceText],
    ["POST", "config/set", "admin", async () => (await config()).setValues],
    ["POST", "reload", "admin", async () => (await acting()).reloadNow],
    ["POST", "restart", "admin", async () => (await acting()).restartNow],
    ["DELETE", "browsers/:id", "admin", async () => (await acting()).revokeBrowser],
  ];

/** A configuration file may have 4 MB, and a recorded delivery a few. */
const maxBodyBytes = 5 * 1024 * 1024;

/** `access: "gateway"`: what acts is not for devices. */
export function registerV1(server: Pick<HttpServer, "manage">, deps: V1Deps, live: () => Promise<Live>): void {
  const add = (route: Omit<OwnRoute, "path" | "handler">, path: string, load: () => Promise<Handler>) =>
    server.manage({
      ...route,
      path: `/gateway/v1/${path}`,
      maxBodyBytes,
      handler: async (request) =>
        await answerNow(await withPlace(async () => await (await load())(deps, request)), { deps, request }),
    });
  for (const [access, path, load] of looks) add({ method: "GET", access, role: "view" }, path, load);
  for (const [method, path, role, load] of acts) add({ method, access: "gateway", role }, path, load);
  for (const [path, load] of ofAdmins) add({ method: "GET", access: "gateway", role: "admin" }, path, load);
  add({ method: "POST", access: "gateway" }, "links", async () => (await acting()).makeLink);
  server.manage({
    ...{ method: "GET", path: "/gateway/v1/stream", access: "device", role: "view" },
    handler: async (request) => ({ headers: answerHeaders, ...(await live()).open(request) }),
  });
}

/** Errors of the configuration name their place, as on the command line. */
async function withPlace(answer: () => Promise<OwnAnswer>): Promise<OwnAnswer> {
  try {
    return await answer();
  } catch (error) {
    // While nothing can be stored, the server says so itself.
    if (!(error instanceof HostError) || cannotStore(error)) throw error;
    const { message, code, hint, details } = error;
    const { path, line, column } = details;
    return {
      status: 409,
      body: { ok: false, error: message, code, hint, ...JSON.parse(JSON.stringify({ path, line, column })) },
    };
  }
}

/** Answers are of this moment, and contain no secret: an error may quote its input. */
async function answerNow(
  { body, ...answer }: OwnAnswer,
  { deps, request }: { readonly deps: V1Deps; readonly request: OwnRequest },
): Promise<OwnAnswer> {
  const answered = { ...answer, headers: { ...answerHeaders, ...answer.headers } };
  if (body === undefined) return answered;
  const shown = deps.clean({ body });
  const { codeRemover, mayDecide } = await import("./hidden-codes.ts");
  const remove = mayDecide(request.caller) ? undefined : await codeRemover(deps);
  return { ...answered, body: (remove?.(shown) ?? shown).body };
}
