/**
 * Routes that a plugin brings while the server listens. fastify takes no routes then, so they have an instance of their
 * own, which takes the requests that no route of the first one is for. Another one replaces it when there are more of
 * them.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createRouteTable } from "./route-table.ts";

export interface LateRoute {
  readonly method: string;
  readonly path: string;
  /** Registers it on an instance. */
  register(app: FastifyInstance): void;
}

export interface LateRoutes {
  /** Throws what is wrong with a path. The function that it resolves with lets the routes answer. */
  prepare(routes: readonly LateRoute[]): Promise<() => void>;
}

/**
 * Call it before any other hook of `main`: the instance of the late routes has its own. `hooksUrl` takes what no route
 * is for.
 */
export function createLateRoutes(
  main: FastifyInstance,
  { createApp, hooksUrl }: { readonly createApp: () => FastifyInstance; readonly hooksUrl: string },
): LateRoutes {
  let all: readonly LateRoute[] = [];
  let app: FastifyInstance | undefined;
  let table = createRouteTable();
  const isLate = ({ method, url, routeOptions }: FastifyRequest) =>
    (routeOptions.url === undefined || routeOptions.url === hooksUrl) &&
    table.methodsOf(url.split("?", 1)[0] ?? "/").includes(method);
  main.addHook("onRequest", (request, reply, next) => {
    if (app === undefined || !isLate(request)) return next();
    reply.hijack();
    app.routing(request.raw, reply.raw);
  });
  return {
    async prepare(routes) {
      if (routes.length === 0) return () => {};
      const next = { all: [...all, ...routes], app: createApp(), table: createRouteTable() };
      for (const route of next.all) {
        route.register(next.app);
        next.table.add(route.method, route.path);
      }
      await next.app.ready();
      return () => {
        ({ all, app, table } = next);
      };
    },
  };
}
