/**
 * The routes of the console and of programs that look at a gateway, under `/gateway/v1/`. They answer what the command
 * line prints with `--json`. The code behind them is imported with the first request.
 */
import {
  answerHeaders,
  type HttpServer,
  type OwnAnswer,
  type OwnRequest,
  type OwnRoute,
  type Role,
} from "../../../http/index.ts";
import type { V1Deps } from "./deps.ts";
import type { Live } from "./live.ts";

type Handler = (deps: V1Deps, request: OwnRequest) => OwnAnswer | Promise<OwnAnswer>;

const reading = () => import("./reading.ts");
const acting = () => import("./acting.ts");

/** For every role. */
const looks: readonly (readonly [path: string, load: () => Promise<Handler>])[] = [
  ["overview", async () => (await reading()).readOverview],
  ["events", async () => (await reading()).listEvents],
  ["events/:id", async () => (await reading()).explainEvent],
  ["events/:id/text", async () => (await reading()).explainEventAsText],
  ["failed", async () => (await reading()).readFailed],
  ["waiting", async () => (await reading()).readWaiting],
  ["sessions", async () => (await reading()).listSessions],
  ["sessions/:key", async () => (await reading()).showSession],
  ["usage", async () => (await reading()).showUsage],
  ["logs", async () => (await reading()).readLogs],
  ["acts", async () => (await reading()).listActs],
];

const acts: readonly (readonly [method: "POST" | "DELETE", path: string, role: Role, load: () => Promise<Handler>])[] =
  [
    ["POST", "events/:id/retry", "operate", async () => (await acting()).retryEvent],
    ["POST", "failed/retry", "operate", async () => (await acting()).retryFailed],
    ["POST", "approvals/:code", "admin", async () => (await acting()).answerApproval],
    ["POST", "pairing/approve", "admin", async () => (await acting()).approvePairing],
    ["POST", "pairing/deny", "admin", async () => (await acting()).denyPairing],
    ["DELETE", "browsers/:id", "admin", async () => (await acting()).revokeBrowser],
  ];

/** `access: "gateway"`: what acts is not for devices. */
export function registerV1(server: Pick<HttpServer, "manage">, deps: V1Deps, live: () => Promise<Live>): void {
  const add = (route: Omit<OwnRoute, "path" | "handler">, path: string, load: () => Promise<Handler>) =>
    server.manage({
      ...route,
      path: `/gateway/v1/${path}`,
      handler: async (request) => answerNow(await (await load())(deps, request), deps),
    });
  for (const [path, load] of looks) add({ method: "GET", access: "device", role: "view" }, path, load);
  for (const [method, path, role, load] of acts) add({ method, access: "gateway", role }, path, load);
  add({ method: "GET", access: "gateway", role: "admin" }, "browsers", async () => (await reading()).listBrowsers);
  add({ method: "POST", access: "gateway" }, "links", async () => (await acting()).makeLink);
  server.manage({
    ...{ method: "GET", path: "/gateway/v1/stream", access: "device", role: "view" },
    handler: async (request) => ({ headers: answerHeaders, ...(await live()).open(request) }),
  });
}

/** Answers are of this moment, and contain no secret: an error may quote its input. */
const answerNow = ({ body, ...answer }: OwnAnswer, { clean }: V1Deps): OwnAnswer => ({
  ...answer,
  headers: { ...answerHeaders, ...answer.headers },
  ...(body !== undefined && { body: typeof body === "string" ? clean({ body }).body : clean(body) }),
});
