/** The routes of plugins: registered while the gateway starts, and given to other definitions when a plugin is replaced. */
import type { RouteDefinition } from "../sdk/contract.ts";
import type { LiveRoute } from "./route.ts";
import { routeAddress } from "./route-table.ts";

export interface PluginRoutes {
  /** Registers a plugin's route, below `/plugins/<id>/` unless its path begins with `/`. Call it before `listen`. */
  route(pluginId: string, definition: RouteDefinition): void;
  /**
   * Checks other routes of a plugin as `route` does. `commit` puts them in the place of those that it has. A server that listens takes no
   * new addresses: those are returned.
   */
  renew(pluginId: string, definitions: readonly RouteDefinition[]): { readonly commit: () => void; readonly waiting: readonly string[] };
}

export function createPluginRoutes({
  add,
  isTaken,
}: {
  readonly add: (path: string, definition: RouteDefinition) => LiveRoute;
  readonly isTaken: (path: string, method: string) => boolean;
}): PluginRoutes {
  const all: { readonly plugin: string; readonly path: string; readonly method: string; readonly route: LiveRoute }[] = [];
  const checkFree = (path: string, method: string) => {
    if (isTaken(path, method)) throw new Error(`The route ${method} ${path} is already in use`);
  };
  return {
    route(plugin, definition) {
      const path = routeAddress(plugin, definition.path);
      const { method } = definition;
      checkFree(path, method);
      all.push({ plugin, path, method, route: add(path, definition) });
    },
    renew(plugin, definitions) {
      const own = all.filter((one) => one.plugin === plugin);
      const known = ({ path, method }: RouteDefinition) =>
        own.find((one) => one.path === routeAddress(plugin, path) && one.method === method);
      const fresh = definitions
        .filter((definition) => known(definition) === undefined)
        .map(({ method, path }) => ({ method, path: routeAddress(plugin, path) }));
      for (const { path, method } of fresh) checkFree(path, method);
      return {
        commit() {
          for (const one of own) one.route.current = definitions.find((definition) => known(definition) === one);
        },
        waiting: fresh.map(({ method, path }) => `${method} ${path}`),
      };
    },
  };
}
