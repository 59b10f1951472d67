/**
 * The routes of plugins: registered while the gateway starts, and given to other definitions when a plugin is replaced.
 */
import type { FastifyInstance } from "fastify";
import type { RouteDefinition } from "../sdk/contract.ts";
import type { LateRoutes } from "./late-routes.ts";
import type { PluginRoute } from "./route.ts";
import { type RouteTable, routeAddress } from "./route-table.ts";

export interface PluginRoutes {
  /** Registers a plugin's route, below `/plugins/<id>/` unless its path begins with `/`. Call it before `listen`. */
  route(pluginId: string, definition: RouteDefinition): void;
  /**
   * Checks other routes of a plugin as `route` does. `commit` puts them in the place of those that it has, while the
   * server listens. `waiting`: new addresses that an earlier route with a parameter takes, such as `/a/b` beside
   * `/a/:name`. They answer after the next start.
   */
  renew(
    pluginId: string,
    definitions: readonly RouteDefinition[],
  ): Promise<{ readonly commit: () => void; readonly waiting: readonly string[] }>;
}

interface RouteAddress {
  readonly method: string;
  readonly path: string;
}

export function createPluginRoutes({
  table,
  late,
  register,
  isReserved,
}: {
  readonly table: RouteTable;
  readonly late: LateRoutes;
  /** Registers a route, on the server's own instance unless another is given. */
  readonly register: (at: RouteAddress & { readonly route: PluginRoute }, app?: FastifyInstance) => void;
  readonly isReserved: (path: string) => boolean;
}): PluginRoutes {
  const all: (RouteAddress & { readonly plugin: string; readonly route: PluginRoute })[] = [];
  const checkFree = (path: string, method: string) => {
    if (isReserved(path) || table.has(method, path)) throw new Error(`The route ${method} ${path} is already in use`);
  };
  const enter = (one: (typeof all)[number]) => {
    table.add(one.method, one.path);
    all.push(one);
  };
  return {
    route(plugin, definition) {
      const path = routeAddress(plugin, definition.path);
      const { method } = definition;
      const route = { current: definition };
      checkFree(path, method);
      register({ method, path, route });
      enter({ plugin, path, method, route });
    },
    async renew(plugin, definitions) {
      const own = all.filter((one) => one.plugin === plugin);
      const known = ({ path, method }: RouteDefinition) =>
        own.find((one) => one.path === routeAddress(plugin, path) && one.method === method);
      const fresh = definitions
        .filter((definition) => known(definition) === undefined)
        .map((current) => ({
          plugin,
          path: routeAddress(plugin, current.path),
          method: current.method,
          route: { current },
        }));
      for (const { path, method } of fresh) checkFree(path, method);
      const waiting = fresh.filter(({ path, method }) => table.methodsOf(path).includes(method));
      const added = fresh.filter((one) => !waiting.includes(one));
      const answer = await late.prepare(
        added.map((one) => ({ path: one.path, method: one.method, register: (app) => register(one, app) })),
      );
      return {
        commit() {
          for (const one of own) one.route.current = definitions.find((definition) => known(definition) === one);
          added.forEach(enter);
          answer();
        },
        waiting: waiting.map(({ method, path }) => `${method} ${path}`),
      };
    },
  };
}
