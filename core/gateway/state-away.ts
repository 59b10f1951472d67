/** A start while the database is away: the gateway waits for it, and answers every request that it is not ready yet. */
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayConfig } from "../config/index.ts";
import { cannotStore, HostError } from "../contract/index.ts";
import { createHttpServer, HttpProblem, type HttpServer, sendProblem } from "../http/index.ts";
import type { Log } from "../log/index.ts";
import type { Tokens } from "./tokens.ts";

const firstPauseMs = 500;
const longestPauseMs = 5_000;
/** How often the log repeats that the gateway waits. */
const repeatMs = 60_000;
const retryAfterSeconds = "5";

export interface StateWait {
  /** Calls `attempt` until it succeeds. Rejects with any error that time does not mend, or once the signal aborts. */
  until<Result>(attempt: () => Promise<Result>): Promise<Result>;
  /** Ends the answers, so that the gateway's own server can listen. */
  end(): Promise<void>;
}

export interface StateWaitOptions {
  readonly config: () => GatewayConfig;
  readonly log: Log;
  readonly elapsed: () => number;
  readonly tokens: () => Tokens;
  readonly signal: AbortSignal | undefined;
  /** Called when the gateway answers while it waits. */
  readonly onListening: (url: string) => void;
}

export function createStateWait(options: StateWaitOptions): StateWait {
  const { log, elapsed, signal } = options;
  let reason = "";
  let server: HttpServer | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  async function note(error: HostError): Promise<void> {
    if (error.message !== reason || elapsed() - loggedAt >= repeatMs) {
      log.warn(
        { code: error.code, hint: error.hint },
        `the gateway waits for its database and tries again by itself: ${error.message}`,
      );
      loggedAt = elapsed();
    }
    reason = error.message;
    if (server !== undefined) return;
    server = createWaitingServer(options, () => reason);
    options.onListening((await server.listen()).url);
  }

  return {
    async until(attempt) {
      const since = elapsed();
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        try {
          const result = await attempt();
          if (pauseMs > firstPauseMs)
            log.info({ seconds: Math.round((elapsed() - since) / 1_000) }, "the database is available again");
          return result;
        } catch (error) {
          if (!isPassing(error)) throw error;
          signal?.throwIfAborted();
          await note(error);
        }
        await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
      }
    },
    end: async () => await server?.close(),
  };
}

/** Whether a later attempt can succeed although nothing is changed here. */
function isPassing(error: unknown): error is HostError {
  return error instanceof HostError && cannotStore(error.code === "store_not_opened" ? error.cause : error);
}

/** Answers `/healthz` and `/readyz` as the gateway's own server does, and everything else with 503. */
function createWaitingServer({ config, log, elapsed, tokens }: StateWaitOptions, reason: () => string): HttpServer {
  const known = tokens();
  const server = createHttpServer({
    ...{ config, log, elapsed, gatewayToken: known.token, previousGatewayToken: known.previous, closeTimeoutMs: 1_000 },
    readiness: () => ({ ready: false, reasons: [`The gateway starts, and waits for its database: ${reason()}`] }),
    metrics: async () => "",
  });
  server.app.all("/*", {
    config: { anyHost: true },
    onRequest(_request, reply) {
      const retry = { "retry-after": retryAfterSeconds };
      sendProblem(reply, new HttpProblem("unavailable", "The gateway starts, and waits for its database.", retry));
    },
    handler: () => undefined,
  });
  return server;
}
