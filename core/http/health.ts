/** `/healthz`, `/readyz` and `/metrics`. Plain probes need no token; details about the gateway do. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RouteAccess } from "../sdk/contract.ts";
import type { RequireAccess } from "./access.ts";
import { presentedToken } from "./credentials.ts";
import { jsonType } from "./problem.ts";
import { sendProblem } from "./send.ts";

export interface HealthDeps {
  /** `reasons` has one sentence for each part that is not up. A gateway that is ready but has reasons is degraded. */
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  /** The page of `createMetrics`. */
  readonly metrics: () => Promise<string>;
}

interface HealthAccess {
  readonly requireAccess: RequireAccess;
  /** Whether `/metrics` needs no token. Read for each request. */
  readonly metricsArePublic: () => boolean;
}

const alive = JSON.stringify({ ok: true });

export function registerHealth(app: FastifyInstance, { readiness, metrics }: HealthDeps, access: HealthAccess): void {
  app.get("/healthz", { config: { anyHost: true } }, (_request, reply) => {
    reply.header("content-type", jsonType).send(alive);
  });
  app.get("/readyz", async (request, reply) => {
    // A token is always checked if one is sent, so that guesses count here too.
    const detailed = presentedToken(request.raw.headers) !== undefined;
    if (await isRefused(request, reply, detailed ? "device" : "public")) return reply;
    const { ready, reasons } = readiness();
    return reply
      .code(ready ? 200 : 503)
      .header("content-type", jsonType)
      .header("cache-control", "no-store")
      .send(JSON.stringify(detailed ? explain(ready, reasons) : { ok: ready }));
  });
  app.get("/metrics", async (request, reply) => {
    if (await isRefused(request, reply, access.metricsArePublic() ? "public" : "device")) return reply;
    return reply.header("content-type", "text/plain; version=0.0.4; charset=utf-8").send(await metrics());
  });

  async function isRefused(request: FastifyRequest, reply: FastifyReply, needed: RouteAccess): Promise<boolean> {
    const problem = await access.requireAccess(request.raw, needed);
    if (problem !== undefined) sendProblem(reply, problem);
    return problem !== undefined;
  }
}

function explain(ready: boolean, reasons: readonly string[]): object {
  if (!ready) return { ok: false, error: "The gateway is not ready yet.", code: "unavailable", reasons };
  return reasons.length === 0 ? { ok: true } : { ok: true, degraded: true, reasons };
}
