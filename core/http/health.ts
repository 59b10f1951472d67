/** `/healthz`, `/readyz` and `/metrics`: open, because they say nothing about anybody, and probes carry no tokens. */
import type { FastifyInstance } from "fastify";
import { jsonType } from "./problem.ts";

export interface HealthDeps {
  /** `reasons`: one sentence for each thing that is not up yet. */
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  /** The page of `createMetrics`. */
  readonly metrics: () => string;
}

const alive = JSON.stringify({ ok: true });

export function registerHealth(app: FastifyInstance, deps: HealthDeps): void {
  app.get("/healthz", { config: { anyHost: true } }, (_request, reply) => {
    reply.header("content-type", jsonType).send(alive);
  });
  app.get("/readyz", (_request, reply) => {
    const { ready, reasons } = deps.readiness();
    const body = ready ? { ok: true } : { ok: false, error: "The gateway is not ready yet.", code: "unavailable", reasons };
    reply
      .code(ready ? 200 : 503)
      .header("content-type", jsonType)
      .header("cache-control", "no-store")
      .send(JSON.stringify(body));
  });
  app.get("/metrics", (_request, reply) => {
    reply.header("content-type", "text/plain; version=0.0.4; charset=utf-8").send(deps.metrics());
  });
}
