/**
 * Requests of the command line that check a running gateway: its accounts at the platforms, the checks of plugins, the
 * models.
 */
import type { TestModel } from "../../agents/index.ts";
import { type LiveAccount, probeAccount } from "../../channels/index.ts";
import { type Owned, runChecks } from "../../host/index.ts";
import type { HttpServer } from "../../http/index.ts";
import type { CheckDefinition, RouteDefinition } from "../../sdk/contract.ts";

export interface OperationsDeps {
  readonly accounts: () => readonly LiveAccount[];
  readonly checks: readonly Owned<CheckDefinition>[];
  readonly testModel: TestModel;
  /** Removes secrets by value: an error may quote its input. */
  readonly clean: <T>(value: T) => T;
}

/** Always requires a token: the routes make the gateway call others, and a fix changes something. */
export function registerOperations(
  server: Pick<HttpServer, "manage">,
  { accounts, checks, testModel, clean }: OperationsDeps,
): void {
  const routes: readonly RouteDefinition[] = [
    {
      method: "POST",
      path: "/gateway/probe",
      access: "device",
      async handler({ body }) {
        const names = isAsked(body, "names");
        const reports = await Promise.all(accounts().map((account) => probeAccount(account, { names })));
        return { headers, body: { ok: true, accounts: clean(reports) } };
      },
    },
    {
      method: "POST",
      path: "/gateway/checks",
      access: "device",
      handler: async ({ body }) => ({
        headers,
        body: { ok: true, checks: clean(await runChecks(checks, oneCheck(body))) },
      }),
    },
    {
      method: "POST",
      path: "/gateway/models/test",
      // Not for devices: a call may cost money.
      access: "gateway",
      handler: async ({ body }) => ({ headers, body: { ok: true, test: clean(await testModel(askedModel(body))) } }),
    },
  ];
  for (const route of routes) server.manage(route);
}

const headers = { "cache-control": "no-store" };

const isAsked = (body: unknown, name: string): boolean =>
  (body as Readonly<Record<string, unknown>> | null)?.[name] === true;

function oneCheck(body: unknown): { readonly plugin: string; readonly name: string } | undefined {
  const { fix } = body as { readonly fix?: { readonly plugin?: unknown; readonly name?: unknown } };
  return typeof fix?.plugin === "string" && typeof fix.name === "string"
    ? { plugin: fix.plugin, name: fix.name }
    : undefined;
}

function askedModel(body: unknown): Parameters<TestModel>[0] {
  const { model, agent } = (body ?? {}) as { readonly model?: unknown; readonly agent?: unknown };
  return { ...(typeof model === "string" && { model }), ...(typeof agent === "string" && { agent }) };
}
