/**
 * Requests of the command line about a running gateway, under `/gateway/`, with the gateway token or that of a paired
 * device.
 */

import type { HttpServer } from "../../http/index.ts";
import type { RouteDefinition } from "../../sdk/contract.ts";

export interface ManagementDeps {
  /** Looks for work that another process put into the store. */
  readonly poke: () => Promise<void>;
  /** What is running here: plugins, channels, addresses. Serialized as JSON; contains no secret. */
  readonly describe: () => unknown;
}

export function registerManagement(server: Pick<HttpServer, "manage">, deps: ManagementDeps): void {
  const routes: readonly RouteDefinition[] = [
    {
      method: "POST",
      path: "/gateway/poke",
      access: "device",
      async handler() {
        await deps.poke();
        return { body: { ok: true } };
      },
    },
    {
      method: "GET",
      path: "/gateway/describe",
      access: "device",
      async handler() {
        return { headers: { "cache-control": "no-store" }, body: { ok: true, gateway: await deps.describe() } };
      },
    },
  ];
  for (const route of routes) server.manage(route);
}
