/** What changes something: by the functions of the command line and the chat, and recorded with who and when. */
import { createPairing } from "../../../access/index.ts";
import { HttpProblem, isRole, linkLifetimeMs, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { findFailed, recordAct, runAgain } from "../../../reports/index.ts";
import { approveSender } from "../pairing.ts";
import type { V1Deps } from "./deps.ts";

type Acts = (deps: V1Deps, request: OwnRequest) => Promise<OwnAnswer>;

/** More events are run by another request. */
const mostAtOnce = 1_000;

const unknown = (message: string) => new HttpProblem("not_found", message);

function textIn(body: unknown, name: string): string {
  const value = (body as Readonly<Record<string, unknown>> | null)?.[name];
  if (typeof value !== "string" || value === "" || value.length > 200)
    throw new HttpProblem("invalid_payload", `${name} must be a text.`);
  return value;
}

const optional = (body: unknown, name: string): string | undefined =>
  (body as Readonly<Record<string, unknown>> | null)?.[name] === undefined ? undefined : textIn(body, name);

/** After the act: what was refused was not done. */
async function record({ store, now, newId, log }: V1Deps, { caller }: OwnRequest, act: string, subject: string) {
  log.info({ by: caller.name, act, subject }, "an operator acted");
  await recordAct(store, newId(), { at: now(), by: caller.name, act, subject });
}

/** As `events retry`, for one event: only what failed runs again, and pressed twice it runs once. */
export const retryEvent: Acts = async (deps, request) => {
  const { store, now, poke } = deps;
  const { id = "" } = request.params;
  const event = await store.event(id);
  if (event === null) throw unknown("There is no such event.");
  if (!(await runAgain(store, event, (of, one) => of.replay(one.id, now()))))
    throw new HttpProblem("idempotency_conflict", "The event has not failed, or runs again already.");
  await record(deps, request, "event_retry", id);
  await poke();
  return { body: { ok: true, retried: [id] } };
};

/** As `events retry --outcome failed`. */
export const retryFailed: Acts = async (deps, request) => {
  const { store, now, poke } = deps;
  const code = textIn(request.body, "code");
  const retried: string[] = [];
  for (const event of await findFailed(store, { code, includeInternal: true, limit: mostAtOnce }))
    if (await runAgain(store, event, (of, one) => of.replay(one.id, now()))) retried.push(event.id);
  await record(deps, request, "failed_retry", `${retried.length} of ${code}`);
  await poke();
  return { body: { ok: true, retried } };
};

/** As `/approve CODE` and `/deny CODE` of an owner. */
export const answerApproval: Acts = async (deps, request) => {
  const { code = "" } = request.params;
  const verdict = textIn(request.body, "verdict");
  if (verdict !== "once" && verdict !== "deny")
    throw new HttpProblem("invalid_payload", "verdict must be once or deny.");
  const { ok, text } = await deps.approvals.decide(code, verdict, { name: request.caller.name, id: deps.newId() });
  if (!ok) return { status: 409, body: { ok, error: text, code: "idempotency_conflict" } };
  await record(deps, request, verdict === "deny" ? "tool_deny" : "tool_allow", code);
  return { body: { ok, text } };
};

/** As `pairing approve`. */
export const approvePairing: Acts = async (deps, request) => {
  const answer = await approveSender(deps, request.body);
  const { approved } = answer.body as { readonly approved?: Readonly<Record<string, unknown>> };
  if (approved !== undefined)
    await record(deps, request, "pairing_approve", `${approved.channel}:${approved.senderId}`);
  return answer;
};

/** As `pairing deny`. */
export const denyPairing: Acts = async (deps, request) => {
  const channel = textIn(request.body, "channel");
  const pairing = createPairing(deps);
  const denied = await pairing.deny(channel, textIn(request.body, "code"), optional(request.body, "account"));
  if (denied === null) throw unknown("There is no such request; it was answered, or has expired.");
  await record(deps, request, "pairing_deny", `${channel}:${denied.senderId}`);
  return { body: { ok: true, denied: { channel, account: denied.account, senderId: denied.senderId } } };
};

/** A code that signs one browser in. Only holders of the gateway token get one. */
export const makeLink: Acts = async (deps, request) => {
  const role = (request.body as { readonly role?: unknown } | null)?.role ?? "admin";
  if (!isRole(role)) throw new HttpProblem("invalid_payload", "role must be view, operate or admin.");
  const code = deps.links.make(role);
  await record(deps, request, "console_link", role);
  return { body: { ok: true, code, role, seconds: linkLifetimeMs / 1_000 } };
};

export const revokeBrowser: Acts = async (deps, request) => {
  const { id = "" } = request.params;
  if (!(await deps.sessions.revoke(id))) throw unknown("There is no such session.");
  await record(deps, request, "session_revoke", id);
  return { body: { ok: true, revoked: id } };
};
