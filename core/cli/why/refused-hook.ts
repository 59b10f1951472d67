/** Hook requests that were refused before they became events, for `why`. */
import { programCommand } from "../../contract/command.ts";
import type { ProblemCode } from "../../http/problem.ts";
import { visibleLine } from "../../log/visible.ts";
import type { Store } from "../../state/store.ts";
import { type RefusedHook, refusalsKey, refusalsNamespace } from "../../webhooks/endpoint/refusals.ts";
import type { Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";

interface Advice {
  /** Configuration path that decided. */
  readonly path?: string;
  readonly hint: string;
}

const advice: Readonly<Partial<Record<ProblemCode, Advice>>> = {
  unauthorized: { path: "hooks.token", hint: 'Send the token that it names, in the header "Authorization: Bearer TOKEN".' },
  rate_limited: { hint: "Too many wrong credentials came from this address. Correct the sender and wait a minute." },
  query_token: { hint: 'Send the token in the header "Authorization: Bearer TOKEN".' },
  origin_refused: { hint: "Call it from a server; browsers are refused, whatever they send." },
  address_not_allowed: {
    path: "hooks.mappings[].addresses",
    hint: "Add the address that the request came from, or check gateway.trustedProxies.",
  },
  not_found: {
    path: "hooks.path",
    hint: `Below it are wake, agent and the paths of mappings; \`${programCommand} hooks list\` shows them.`,
  },
  signature_invalid: { path: "hooks.mappings", hint: "Compare the signing secret with the sender's; the clocks must agree, too." },
  unsupported_media_type: { hint: "Let the sender declare application/json; what a mapping takes instead is its `body`." },
  unavailable: {
    hint: `\`${programCommand} logs\` says what was in the way, such as a full disk or an error in the mapping; nothing was accepted.`,
  },
  payload_too_large: { path: "hooks.maxBodyBytes", hint: "Raise it, or send less." },
  agent_not_allowed: { path: "hooks.allowedAgentIds", hint: "Add the agent, or leave agentId out." },
  session_key_not_allowed: {
    path: "hooks.allowRequestSessionKey, hooks.allowedSessionKeyPrefixes",
    hint: "Allow it, or leave sessionKey out.",
  },
  model_not_allowed: { path: "agents.defaults.models", hint: "Add the model, or leave model out." },
  channel_unavailable: { path: "channels", hint: "Enable the channel, or name another one." },
};

/** The newest refused request that came after `since`, epoch milliseconds. */
export async function refusedSince(store: Store, since: number): Promise<RefusedHook | null> {
  const kept = (await store.get(refusalsNamespace, refusalsKey)) as unknown as readonly RefusedHook[] | null;
  const newest = kept?.at(-1);
  return newest !== undefined && newest.at > since ? newest : null;
}

export function tellRefusedHook(refused: RefusedHook, terminal: Terminal, now: number): void {
  const { style } = terminal;
  const { path, hint } = advice[refused.code] ?? {};
  terminal.line(`${style("red", "refused")} ${style("dim", `(${refused.code})`)} with ${refused.status}`);
  terminal.line();
  terminal.table(
    [
      ["request", `hook ${refused.subPath === "" ? "(no name)" : visibleLine(refused.subPath)}`],
      ["from", refused.client],
      ["when", `${renderClock(refused.at)} (${renderAgo(refused.at, now)})`],
    ].map(([name = "", text = ""]) => [style("dim", name), text]),
    { indent: "  " },
  );
  terminal.line();
  terminal.line(`  ${style("red", "✗")} accept  ${refused.detail}`);
  if (path !== undefined) terminal.line(`            ${style("dim", "decided by")} ${path}`);
  if (hint !== undefined) terminal.line(`            ${style("dim", "to change")}  ${hint}`);
}
