/** HTTP routes of plugins. */
import type { TSchema } from "typebox";
import type { Json } from "../../contract/index.ts";

/**
 * Who may call a route. `gateway`: holders of the gateway token (`Authorization: Bearer ...`). `device`: also devices
 * that a plugin vouches for (`PluginHost.devices`). `public`: every client. Requests from web pages of other sites are
 * always refused.
 */
export type RouteAccess = "gateway" | "device" | "public";

/** An HTTP request as a route's handler receives it. */
export interface RouteRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Values of the `:name` parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. Without the credentials that authorized the request, unless the route is `public`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON (`{}` if there is no body), or a `Buffer` if the route sets `rawBody`. */
  readonly body: unknown;
  /** Client address, with `gateway.trustedProxies` applied. */
  readonly clientAddress: string;
  /** The client to which failed attempts are attributed: its address, or the /64 network of an IPv6 address. */
  readonly client: string;
}

/**
 * An HTTP answer. A text, bytes or stream body is sent unchanged, with `type`; any other body is sent as JSON. Without
 * `body` the answer has none.
 */
export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Content type of a text, bytes or stream body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Server-sent events: one `data:` line for each value, until the iterable ends or the client disconnects. */
  readonly events?: AsyncIterable<Json>;
}

/**
 * An HTTP route under `/plugins/<id>/`. If the handler throws or does not resolve within 120 s, the answer is 500
 * without the error's text, and the error is logged. A stream body is cut off after 120 s without data; events may
 * pause for any time. A route whose address is already taken is logged and left out.
 *
 * @example
 * host.route({
 *   method: "GET",
 *   path: "things/:id",
 *   access: "gateway",
 *   handler: ({ params }) => ({ body: { id: params.id } }),
 * });
 */
export interface RouteDefinition {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/plugins/<id>/`, with `:name` parts; from the root if it begins with `/`. */
  readonly path: string;
  readonly access: RouteAccess;
  /** For a page for people: its name, under which the gateway's address links to it. */
  readonly page?: string;
  /** TypeBox schema of the JSON body. A body that does not match is answered with 400 before the handler runs. */
  readonly schema?: TSchema;
  /** True: the handler receives the bytes, whatever their content type; for checking signatures. */
  readonly rawBody?: boolean;
  /** Bytes; default 262,144. A larger body is answered with 413. */
  readonly maxBodyBytes?: number;
  handler(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}
