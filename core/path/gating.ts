/** Station 2: pass, or the first refusal. Nothing with a side effect has happened before it. */

import type { Address, Inbound } from "../contract/index.ts";
import type { Hooks } from "../stations/index.ts";
import { type Stop, type Trace, textReply } from "./ending.ts";

function addressOf(inbound: Inbound): Address {
  const { channel, account, chat } = inbound;
  return { channel, account, chat: chat.id, ...(chat.thread === undefined ? {} : { thread: chat.thread }) };
}

export async function gating(
  inbound: Inbound,
  {
    hooks,
    trace,
    passedBy,
  }: {
    readonly hooks: Hooks;
    readonly trace: Trace;
    /** What let it in, as the core's own gate knows. */
    readonly passedBy: (inbound: Inbound) => { readonly code: string; readonly path?: string } | undefined;
  },
): Promise<Stop | undefined> {
  const refused = await hooks.gating(inbound);
  if (refused === undefined) {
    const { code, path } = passedBy(inbound) ?? { code: "allowed" };
    trace.add("gating", { plugin: "core", verdict: "pass", code, ...(path === undefined ? {} : { path }) });
    return undefined;
  }
  const { code, detail, path, hint, notice, outcome = "refused" } = refused.value;
  trace.add("gating", {
    plugin: refused.plugin,
    verdict: outcome,
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(path === undefined ? {} : { path }),
    ...(hint === undefined ? {} : { hint }),
  });
  const stop = { outcome, reason: code } as const;
  return notice === undefined ? { stop } : { stop, say: { address: addressOf(inbound), reply: textReply(notice) } };
}
