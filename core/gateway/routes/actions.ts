/** Actions for programs with the gateway token: the same ones that an agent has as tools. */
import type { ActionRunner } from "../../actions/index.ts";
import type { Json } from "../../contract/index.ts";
import type { HttpServer } from "../../http/index.ts";
import type { RouteDefinition } from "../../sdk/contract.ts";

export interface ActionRouteDeps {
  readonly actions: ActionRunner;
  /** Removes secrets by value: a platform's error may quote its input. */
  readonly clean: <T>(value: T) => T;
}

/** HTTP status by the code of the refusal; a refusal by the platform is 502. */
const statuses: Readonly<Record<string, number>> = {
  action_waits: 202,
  action_unknown: 400,
  invalid_arguments: 400,
  nothing_to_send: 400,
  edit_too_long: 400,
  not_supported: 400,
  action_off: 403,
  buttons_off: 403,
  account_not_open: 503,
};

const headers = { "cache-control": "no-store" };

/** Not for devices: a holder of the token may write to any chat. */
export function registerActions(server: Pick<HttpServer, "manage">, { actions, clean }: ActionRouteDeps): void {
  const route: RouteDefinition = {
    method: "POST",
    path: "/gateway/actions",
    access: "gateway",
    async handler({ body }) {
      const { action, dryRun, ...args } = (Array.isArray(body) ? {} : body) as Readonly<Record<string, Json>>;
      const name = typeof action === "string" ? action : "";
      const result = await actions.run(name, args, { by: "operator", dryRun: dryRun === true });
      return { status: result.ok ? 200 : (statuses[result.code] ?? 502), headers, body: clean(result) };
    },
  };
  server.manage(route);
}
