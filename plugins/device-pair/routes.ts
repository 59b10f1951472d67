/** The routes for devices: a device sends a code and receives a secret, with which it fetches its token. */
import { type Address, type RouteAnswer, type RouteDefinition, type RouteRequest, Type } from "service-gateway/sdk";
import type { Asked, Devices } from "./devices.ts";
import { createFailures } from "./failures.ts";
import { page, pageHeaders } from "./page.ts";

/** Seconds between polls. */
const pollSeconds = 2;
const noStore = { "cache-control": "no-store" };

const schema = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 64 }),
  name: Type.String({ minLength: 1, maxLength: 64 }),
});

function refused(
  status: number,
  code: string,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): RouteAnswer {
  return { status, headers: { ...noStore, ...headers }, body: { ok: false, error, code } };
}

/** The secret in the Authorization header. It is never part of the URL, which proxies write to their logs. */
function bearer({ headers }: RouteRequest): string {
  return /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

export function deviceRoutes({
  devices,
  elapsed,
  onAsked,
}: {
  readonly devices: Devices;
  /** A monotonic clock, in milliseconds. */
  readonly elapsed: () => number;
  /** Called before the device gets its response, with the chat in which the code was requested. Must not throw. */
  readonly onAsked: (
    to: Address | null,
    asking: { readonly id: string; readonly name: string; readonly from: string },
  ) => Promise<void>;
}): readonly RouteDefinition[] {
  const failures = createFailures(elapsed);
  const limited = (seconds: number) =>
    refused(429, "rate_limited", "Too many wrong attempts; wait before the next one.", {
      "retry-after": String(seconds),
    });

  async function ask({ body, clientAddress, client }: RouteRequest): Promise<RouteAnswer> {
    const wait = failures.wait(client);
    if (wait > 0) return limited(wait);
    const given = body as { readonly code: string; readonly name: string };
    const name = plainName(given.name);
    // Counted before the code is compared: attempts that arrive together must not all find room.
    failures.add(client);
    let asked: Asked | undefined;
    try {
      asked = await devices.ask({ code: given.code, name, from: clientAddress });
    } finally {
      if (asked === undefined || asked.ok || asked.reason === "full") failures.takeBack(client);
    }
    if (asked.ok) {
      await onAsked(asked.invitedAt, { id: asked.id, name, from: clientAddress });
      return {
        status: 202,
        headers: noStore,
        body: { ok: true, status: "pending", id: asked.id, secret: asked.secret, pollSeconds },
      };
    }
    if (asked.reason === "full")
      return refused(503, "requests_full", "Too many devices wait for approval; the owner has to decide first.");
    return refused(403, "code_invalid", "The code is wrong, used or too old; ask the bot for a new one with /pair.");
  }

  async function collect(request: RouteRequest): Promise<RouteAnswer> {
    const { client, params } = request;
    // A correct secret is always accepted: it is random, and other clients behind the same address may have failed.
    const collected = await devices.collect(params.id ?? "", bearer(request));
    if (collected.state === "unknown") {
      const wait = failures.wait(client);
      if (wait > 0) return limited(wait);
      failures.add(client);
      return refused(
        404,
        "request_unknown",
        "There is no such request: it was denied, has expired, or its secret is different.",
      );
    }
    if (collected.state === "pending")
      return { status: 202, headers: noStore, body: { ok: true, status: "pending", pollSeconds } };
    return { headers: noStore, body: { ok: true, status: "approved", token: collected.token } };
  }

  return [
    {
      method: "GET",
      path: "/devices/pair",
      access: "public",
      handler: () => ({ type: "text/html; charset=utf-8", headers: pageHeaders, body: page }),
    },
    { method: "POST", path: "/devices/pair", access: "public", schema, maxBodyBytes: 4_096, handler: ask },
    { method: "GET", path: "/devices/pair/:id", access: "public", handler: collect },
  ];
}

/**
 * Cleans a name chosen by a client that only knows a code: one line, without characters that reorder or hide others.
 */
function plainName(name: string): string {
  const plain = name
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .replaceAll("`", "'")
    .trim();
  return plain === "" ? "device" : plain;
}
