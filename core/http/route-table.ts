/** Records which methods a path supports. The router only looks up the method of the request. */

/** The path of a plugin's route: below the plugin's own name, unless it begins with `/`. */
export const routeAddress = (pluginId: string, path: string): string =>
  path.startsWith("/") ? path : `/plugins/${pluginId}/${path}`;

export interface RouteTable {
  add(method: string, path: string): void;
  /** Whether a route exists. `path` is the path as registered. */
  has(method: string, path: string): boolean;
  /** The methods of a requested path; empty if there is no route. */
  methodsOf(path: string): readonly string[];
}

export function createRouteTable(): RouteTable {
  const routes: { readonly method: string; readonly path: string; readonly segments: readonly string[] }[] = [];
  return {
    add(method, path) {
      routes.push({ method, path, segments: path.split("/") });
    },
    has(method, path) {
      return routes.some((route) => route.method === method && route.path === path);
    },
    methodsOf(path) {
      const wanted = path.split("/");
      const methods = routes.filter((route) => matches(route.segments, wanted)).map((route) => route.method);
      return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
    },
  };
}

function matches(pattern: readonly string[], wanted: readonly string[]): boolean {
  if (pattern.at(-1) === "*" && wanted.length >= pattern.length)
    return matches(pattern.slice(0, -1), wanted.slice(0, pattern.length - 1));
  return (
    pattern.length === wanted.length &&
    pattern.every((segment, index) => (segment.startsWith(":") ? wanted[index] !== "" : segment === wanted[index]))
  );
}
