/** The routes for the commands: what runs here, and what the operator wants done with it. */
import { type RouteAnswer, type RouteDefinition, type RouteRequest, Type } from "service-gateway/sdk";
import type { Serving } from "./serving.ts";

const name = Type.String({ minLength: 1, maxLength: 200 });
const schema = Type.Object({ name });
const acceptSchema = Type.Object({ name, listing: Type.Optional(Type.String({ maxLength: 200 })) });

export function mcpRoutes(serving: () => Serving | undefined): readonly RouteDefinition[] {
  const eachNamed =
    (work: (serving: Serving, name: string, listing?: string) => Promise<readonly object[] | undefined>) =>
    async ({ body }: RouteRequest): Promise<RouteAnswer> => {
      const { name, listing } = body as { readonly name: string; readonly listing?: string };
      const now = serving();
      const results = now === undefined ? undefined : await work(now, name, listing);
      if (results !== undefined) return { body: { ok: true, results } };
      return {
        status: 404,
        body: { ok: false, code: "mcp_unknown", error: `No agent has an MCP server with the name ${name}.` },
      };
    };

  return [
    {
      method: "GET",
      path: "servers",
      access: "gateway",
      handler: () => ({ body: { ok: true, servers: serving()?.views() ?? [] } }),
    },
    {
      method: "POST",
      path: "accept",
      access: "gateway",
      schema: acceptSchema,
      handler: eachNamed((now, name, listing) => now.accept(name, listing)),
    },
    {
      method: "POST",
      path: "restart",
      access: "gateway",
      schema,
      handler: eachNamed((now, name) => now.restart(name)),
    },
  ];
}
