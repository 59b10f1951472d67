/** A real server on loopback, with the hook endpoints, and a client that shows what is on the wire. */
import { connect, type Socket } from "node:net";
import Value from "typebox/value";
import { configSchema, type GatewayConfig } from "../../../core/config/schema.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../../../core/http/server.ts";
import type { PresetDefinition } from "../../../core/sdk/contract.ts";
import type { AcceptInput } from "../../../core/webhooks/endpoint/answer-delivery.ts";
import { registerWebhooks, type WebhookDeps } from "../../../core/webhooks/endpoint/endpoints.ts";
import { createResults } from "../../../core/webhooks/endpoint/results.ts";
import { compileMappings } from "../../../core/webhooks/mapping/compile-mappings.ts";
import type { MappingTable } from "../../../core/webhooks/mapping/compiled-mapping.ts";

function buildConfig(change: Record<string, unknown> = {}): GatewayConfig {
  return Value.Default(configSchema, { gateway: { port: 0 }, ...change }) as GatewayConfig;
}

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export function createTestLog(): WebhookDeps["log"] & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { lines, debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

export const gatewayToken = "gateway-token-of-the-test";
export const hookToken = "hook-token-of-the-test";

export interface TestServer {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
  readonly log: ReturnType<typeof createTestLog>;
  config: GatewayConfig;
  close(): Promise<void>;
}

export async function startServer(
  options: Partial<HttpServerOptions> & { readonly gateway?: object; readonly hooks?: object } = {},
  prepare: (server: HttpServer, test: TestServer) => void = () => {},
): Promise<TestServer> {
  const { gateway = {}, hooks = {}, ...rest } = options;
  const log = createTestLog();
  const test: { -readonly [K in keyof TestServer]: TestServer[K] } = {
    config: buildConfig({ gateway: { port: 0, ...gateway }, hooks }),
    log,
    url: "",
    port: 0,
    server: undefined as unknown as HttpServer,
    close: () => test.server.close(),
  };
  test.server = createHttpServer({
    config: () => test.config,
    log,
    readiness: () => ({ ready: true, reasons: [] }),
    metrics: async () => "",
    gatewayToken: () => gatewayToken,
    elapsed: () => 1_000_000,
    closeTimeoutMs: 500,
    ...rest,
  });
  prepare(test.server, test);
  const { url, port } = await test.server.listen();
  Object.assign(test, { url, port });
  return test;
}

export interface HookServer extends TestServer {
  readonly events: AcceptInput[];
  /** Takes an event in as the server does. */
  readonly accept: WebhookDeps["accept"];
  /** What is compiled of the configuration as it is now. */
  table(): MappingTable;
  readonly clock: { at: number };
  setToken(value: string | undefined): void;
  /** Posts to a sub-path with the right token, unless `headers` say otherwise. */
  post(subPath: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(text);
  } catch {}
  return { status: response.status, headers: response.headers, text, json };
}

/** Keeps events in memory; a repeated dedupe key gets the first id again. */
export async function startHooks(
  options: {
    readonly hooks?: object;
    readonly gateway?: object;
    readonly deps?: Partial<WebhookDeps>;
    readonly server?: Partial<HttpServerOptions>;
    readonly presets?: readonly PresetDefinition[];
  } = {},
): Promise<HookServer> {
  const events: HookServer["events"] = [];
  const seen = new Map<string, { readonly eventId: string; readonly fingerprint: string | undefined }>();
  const clock = { at: 1_700_000_000_000 };
  let ids = 0;
  const state = { token: hookToken as string | undefined };
  const policies: Pick<WebhookDeps, "channels" | "agents" | "models"> = {
    channels: {
      known: (id) => ["whatsapp", "chat-a", "chat-b"].includes(id),
      available: (id) => id.startsWith("chat-"),
      list: () => ["chat-a", "chat-b"],
      meant: () => undefined,
      platformProblem: () => undefined,
      hasLastRecipient: async (id) => id === "chat-b",
    },
    agents: { exists: (id) => ["main", "ops"].includes(id), defaultId: () => "main" },
    models: { allowed: (model) => model === "local/small" || model === "fast" },
  };
  const accept: WebhookDeps["accept"] = async (input) => {
    const key = input.event.dedupeKey;
    const first = key === undefined ? undefined : seen.get(key);
    if (first !== undefined)
      return { eventId: first.eventId, duplicate: true, sameFingerprint: first.fingerprint === input.fingerprint };
    events.push(input);
    const eventId = `event-${events.length}`;
    if (key !== undefined) seen.set(key, { eventId, fingerprint: input.fingerprint });
    return { eventId, duplicate: false };
  };
  let compiled: { readonly of: GatewayConfig; readonly table: MappingTable } | undefined;
  const table = (): MappingTable => {
    const of = test.config;
    if (compiled?.of === of) return compiled.table;
    const presets = new Map(options.presets?.map((preset) => [preset.id, preset]));
    const context = {
      ...policies,
      presets,
      hooks: of.hooks,
      problems: [],
      secret: (value: unknown) => String(value),
      checkTransform: () => undefined,
    };
    compiled = { of, table: compileMappings(context) };
    return compiled.table;
  };
  const test = await startServer(
    {
      ...options.server,
      elapsed: () => clock.at,
      gateway: options.gateway ?? {},
      hooks: { enabled: true, token: hookToken, ...options.hooks },
    },
    (server, current) => {
      registerWebhooks(server.app, {
        config: () => current.config,
        isOn: () => current.config.hooks.enabled,
        token: () => state.token,
        clientAddress: server.clientAddress,
        accept,
        async first(key) {
          const known = seen.get(key);
          if (known === undefined) return null;
          return {
            eventId: known.eventId,
            ...(known.fingerprint === undefined ? {} : { fingerprint: known.fingerprint }),
          };
        },
        body: async (eventId) => events[Number(eventId.slice("event-".length)) - 1]?.event.body ?? null,
        budgetOf: async () => undefined,
        ...policies,
        mappings: table,
        transform: async () => undefined,
        confirm: async () => {},
        results: createResults({ store: { event: async () => null }, exposeReplies: () => false }),
        now: () => clock.at,
        elapsed: () => clock.at,
        newId: () => `id-${++ids}`,
        log: current.log,
        ...options.deps,
      });
    },
  );
  return Object.assign(test, {
    events,
    accept,
    table,
    clock,
    setToken(value: string | undefined) {
      state.token = value;
    },
    async post(subPath: string, body: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${test.url}/hooks/${subPath}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...("authorization" in headers ? {} : { authorization: `Bearer ${hookToken}` }),
          ...headers,
        },
        body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      });
      return toAnswer(response);
    },
  });
}

/** A socket that collects what comes back, for what no client library would send. */
export function openSocket(port: number): Promise<{
  readonly socket: Socket;
  write(text: string | Buffer): void;
  /** Resolves with everything received once `pattern` is in it, or when the socket closes. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything received, and whether it ended by a reset. */
  ended(): Promise<{ readonly text: string; readonly reset: boolean }>;
}> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    let reset = false;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => {
      reset = true;
    });
    const closed = new Promise<void>((done) => socket.once("close", () => done()));
    socket.once("error", reject);
    socket.once("connect", () =>
      resolve({
        socket,
        write: (part) => void socket.write(part),
        until: (pattern) =>
          new Promise((done) => {
            const check = (): void => {
              if (!pattern.test(text)) return;
              socket.removeListener("data", check);
              done(text);
            };
            socket.on("data", check);
            void closed.then(() => done(text));
            check();
          }),
        ended: () => closed.then(() => ({ text, reset })),
      }),
    );
  });
}
