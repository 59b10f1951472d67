/** The gateway's port of a contract: the platform posts its events there, and the account answers. */

import type { FindRoute } from "../../channels/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import { createHttpServer } from "../../http/index.ts";

export interface PostingPort {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a server asks of the configuration. */
const config = {
  gateway: { host: "127.0.0.1", port: 0, trustedProxies: [], allowedHosts: [], metrics: { public: false } },
  hooks: { path: "/hooks" },
} as unknown as GatewayConfig;

export async function openPostingPort(find: FindRoute): Promise<PostingPort> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const server = createHttpServer({
    config: () => config,
    log: silent,
    gatewayToken: () => undefined,
    channelRoute: find,
    elapsed: () => performance.now(),
    readiness: () => ({ ready: true, reasons: [] }),
    metrics: async () => "",
    closeTimeoutMs: 500,
  });
  // A connection that stays open would be taken for one of the channel's.
  server.app.addHook("onRequest", (_request, reply, next) => {
    reply.header("connection", "close");
    next();
  });
  const { url } = await server.listen();
  return { url, close: () => server.close() };
}
