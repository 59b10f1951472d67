/** What changes something: by the functions of the command line and the chat, and recorded with who and when. */
import { createPairing } from "../../../access/index.ts";
import { HttpProblem, isRole, linkLifetimeMs, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { findFailed, runAgain } from "../../../reports/index.ts";
import { approveSender } from "../pairing.ts";
import { optionalTextIn, textIn } from "./body.ts";
import type { V1Deps } from "./deps.ts";
import { carryOut } from "./recorded.ts";

type Acts = (deps: V1Deps, request: OwnRequest) => Promise<OwnAnswer>;

/** More events are run by another request. */
const mostAtOnce = 1_000;

const unknown = (message: string) => new HttpProblem("not_found", message);

/** As `events retry`, for one event: only what failed runs again, and pressed twice it runs once. */
export const retryEvent: Acts = async (deps, request) => {
  const { store, now, poke } = deps;
  const { id = "" } = request.params;
  const event = await store.event(id);
  if (event === null) throw unknown("There is no such event.");
  return await carryOut(deps, request, { act: "event_retry", subject: id }, async () => {
    if (!(await runAgain(store, event, (of, one) => of.replay(one.id, now()))))
      throw new HttpProblem("idempotency_conflict", "The event has not failed, or runs again already.");
    await poke();
    return { body: { ok: true, retried: [id] } };
  });
};

/** As `events retry --outcome failed`. */
export const retryFailed: Acts = async (deps, request) => {
  const { store, now, poke } = deps;
  const code = textIn(request.body, "code");
  const failed = await findFailed(store, { code, includeInternal: true, limit: mostAtOnce });
  return await carryOut(deps, request, { act: "failed_retry", subject: `${failed.length} of ${code}` }, async () => {
    const retried: string[] = [];
    for (const event of failed)
      if (await runAgain(store, event, (of, one) => of.replay(one.id, now()))) retried.push(event.id);
    await poke();
    return { body: { ok: true, retried } };
  });
};

/** As `/approve CODE` and `/deny CODE` of an owner. */
export const answerApproval: Acts = async (deps, request) => {
  const { code = "" } = request.params;
  const verdict = textIn(request.body, "verdict");
  if (verdict !== "once" && verdict !== "deny")
    throw new HttpProblem("invalid_payload", "verdict must be once or deny.");
  const asked = (await deps.approvals.waiting()).find((one) => one.code === code);
  const subject = asked === undefined ? "an answered request" : `${asked.call.agentId}:${asked.call.tool}`;
  return await carryOut(deps, request, { act: verdict === "deny" ? "tool_deny" : "tool_allow", subject }, async () => {
    const { ok, text } = await deps.approvals.decide(code, verdict, { name: request.caller.name, id: deps.newId() });
    if (!ok) return { status: 409, body: { ok, error: text, code: "idempotency_conflict" } };
    return { body: { ok, text } };
  });
};

/** The sender of a code, for the record; the code itself is a secret until it is used. */
async function senderOf(deps: V1Deps, { body }: OwnRequest): Promise<string> {
  const [channel, code] = [textIn(body, "channel"), textIn(body, "code").trim().toUpperCase()];
  const pending = await createPairing(deps).pending(channel, optionalTextIn(body, "account"));
  return `${channel}:${pending.find((one) => one.code === code)?.senderId ?? "an unknown code"}`;
}

/** As `pairing approve`. */
export const approvePairing: Acts = async (deps, request) =>
  await carryOut(deps, request, { act: "pairing_approve", subject: await senderOf(deps, request) }, () =>
    approveSender(deps, request.body),
  );

/** As `pairing deny`. */
export const denyPairing: Acts = async (deps, request) =>
  await carryOut(deps, request, { act: "pairing_deny", subject: await senderOf(deps, request) }, async () => {
    const channel = textIn(request.body, "channel");
    const code = textIn(request.body, "code");
    const denied = await createPairing(deps).deny(channel, code, optionalTextIn(request.body, "account"));
    if (denied === null) throw unknown("There is no such request; it was answered, or has expired.");
    return { body: { ok: true, denied: { channel, account: denied.account, senderId: denied.senderId } } };
  });

/** As `reload`. */
export const reloadNow: Acts = (deps, request) =>
  carryOut(deps, request, { act: "gateway_reload", subject: "the configuration" }, deps.control.reload);

/** As `restart`. */
export const restartNow: Acts = (deps, request) =>
  carryOut(deps, request, { act: "gateway_restart", subject: "the gateway" }, deps.control.restart);

/** A code that signs one browser in. Only holders of the gateway token get one. */
export const makeLink: Acts = async (deps, request) => {
  const role = (request.body as { readonly role?: unknown } | null)?.role ?? "admin";
  if (!isRole(role)) throw new HttpProblem("invalid_payload", "role must be view, operate or admin.");
  return await carryOut(deps, request, { act: "console_link", subject: role }, async () => ({
    body: { ok: true, code: deps.links.make(role), role, seconds: linkLifetimeMs / 1_000 },
  }));
};

export const revokeBrowser: Acts = async (deps, request) => {
  const { id = "" } = request.params;
  return await carryOut(deps, request, { act: "session_revoke", subject: id }, async () => {
    if (!(await deps.sessions.revoke(id))) throw unknown("There is no such session.");
    return { body: { ok: true, revoked: id } };
  });
};
