/**
 * Requests of the command line that control a running gateway, under `/gateway/`. They require the gateway token; a
 * device cannot stop the gateway.
 */
import { HostError } from "../../contract/index.ts";
import type { HttpServer } from "../../http/index.ts";
import type { RouteAnswer, RouteDefinition } from "../../sdk/contract.ts";

export interface ControlDeps {
  /** Reads the configuration now. Throws `HostError` if it cannot be used. */
  readonly reload: () => Promise<object>;
  /**
   * Stops or restarts the gateway once this request is answered. Returns false if the program that runs the gateway
   * does not support that.
   */
  readonly end: (how: "stop" | "restart") => boolean;
  /** Throws `HostError` if the next start would find no usable configuration. */
  readonly checkStart: () => Promise<unknown>;
  /** How long the gateway waits for running turns. */
  readonly drainSeconds: () => number;
  /** Removes secrets by value: an error may quote its input. */
  readonly clean: <T>(value: T) => T;
}

const headers = { "cache-control": "no-store" };

export interface Control {
  readonly reload: () => Promise<RouteAnswer>;
  readonly stop: () => Promise<RouteAnswer>;
  readonly restart: () => Promise<RouteAnswer>;
}

/** What the routes and the console do. A refusal is an answer with its reason. */
export function createControl(deps: ControlDeps): Control {
  function end(how: "stop" | "restart"): object {
    if (!deps.end(how)) throw new HostError("gateway_embedded", { what: how === "stop" ? "stopped" : "restarted" });
    return { drainSeconds: deps.drainSeconds() };
  }
  async function answer(act: () => Promise<object>): Promise<RouteAnswer> {
    try {
      return { headers, body: deps.clean({ ok: true, ...(await act()) }) };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { message, code, hint } = error;
      return { status: 409, headers, body: deps.clean({ ok: false, error: message, code, hint }) };
    }
  }
  return {
    reload: () => answer(async () => deps.reload()),
    stop: () => answer(async () => end("stop")),
    restart: () =>
      answer(async () => {
        await deps.checkStart();
        return end("restart");
      }),
  };
}

export function registerControl(server: Pick<HttpServer, "manage">, control: Control): void {
  const routes: readonly Pick<RouteDefinition, "path" | "handler">[] = [
    { path: "/gateway/reload", handler: control.reload },
    { path: "/gateway/stop", handler: control.stop },
    { path: "/gateway/restart", handler: control.restart },
  ];
  for (const route of routes) server.manage({ method: "POST", access: "gateway", ...route });
}
