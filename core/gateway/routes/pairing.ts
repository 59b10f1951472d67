/** Approval of a pairing code over HTTP, for a page or a program of the operator. */
import { createPairing, namesOwner, welcome } from "../../access/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import { HostError, type RawEvent } from "../../contract/index.ts";
import { noticeEvent } from "../../host/index.ts";
import type { HttpServer } from "../../http/index.ts";
import type { RouteAnswer } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

export interface PairingRouteDeps {
  readonly store: Store;
  readonly config: () => GatewayConfig;
  readonly now: () => number;
  readonly receive: (event: RawEvent) => Promise<unknown>;
  /** Looks in the store for work that was put there beside the path. */
  readonly poke: () => Promise<unknown>;
}

const headers = { "cache-control": "no-store" };

/** Not for devices: a holder of the gateway token decides who may write. */
export function registerPairing(server: Pick<HttpServer, "manage">, deps: PairingRouteDeps): void {
  server.manage({
    method: "POST",
    path: "/gateway/pairing/approve",
    access: "gateway",
    handler: ({ body }) => approveSender(deps, body),
  });
}

/** Approves the sender of a code, and greets them. `body`: `channel`, `code`, and perhaps `account` and `sender`. */
export async function approveSender(
  { store, config, now, receive, poke }: PairingRouteDeps,
  body: unknown,
): Promise<RouteAnswer> {
  const pairing = createPairing({ store, now });
  const { channel, code, sender, account } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof channel !== "string" || typeof code !== "string")
    return refused(
      400,
      "invalid_payload",
      "channel and code must be texts.",
      "Send the channel and the code of the pairing text.",
    );
  const wanted = typeof account === "string" ? account : undefined;
  // A page that acts for one person must not approve another with a code that was shown to this person.
  const mine = (await pairing.pending(channel, wanted)).some(
    (one) => one.code === code.trim().toUpperCase() && one.senderId === sender,
  );
  const result = await pairing.approve(channel, sender === undefined || mine ? code : "", {
    account: wanted,
    ownerNamed: (of) => namesOwner(config(), channel, of),
  });
  if (!result.ok) {
    const error = new HostError(result.reason === "locked" ? "pairing_locked" : "pairing_code_unknown", {
      channel,
      code,
    });
    return refused(result.reason === "locked" ? 429 : 404, error.code, error.message, error.hint);
  }
  const { request, madeOwner, expiresAt } = result;
  const say = (text: string) => receive(noticeEvent({ address: request.address, text }));
  if (await welcome(request, { store, now, say })) await poke();
  const approved = { channel, account: request.account, senderId: request.senderId, owner: madeOwner };
  return { headers, body: { ok: true, approved: { ...approved, ...(expiresAt !== undefined && { expiresAt }) } } };
}

function refused(status: number, code: string, error: string, hint: string): RouteAnswer {
  return { status, headers, body: { ok: false, error, code, hint } };
}
