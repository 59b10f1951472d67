/** Completes a reply before its channel renders it: tags, silence, reasoning. */
import type { GatewayConfig } from "../../config/index.ts";
import { applyReplyTags, mayBeSilent, showReasoning, speakable } from "../../reply/index.ts";
import type { Store } from "../../state/index.ts";
import type { Hooks } from "../../stations/index.ts";
import { ackMaxCharsFor } from "../agents/agent-side.ts";

export function tapFormatting(
  hooks: Hooks,
  { config, store }: { readonly config: () => GatewayConfig; readonly store: Store },
): void {
  hooks.tap(
    "core",
    "formatting",
    (reply, { inbound }) => {
      if (inbound.request?.deliverOnly === true) return undefined;
      const tagged = applyReplyTags(reply, inbound);
      // Removes text that is meant for the gateway only.
      return mayBeSilent(tagged.text) ? speakable(tagged, { ackMaxChars: ackMaxCharsFor(config(), inbound) }) : tagged;
    },
    { order: "early" },
  );
  hooks.tap(
    "core",
    "formatting",
    (reply, { inbound, route }) =>
      reply.reasoning === undefined
        ? undefined
        : showReasoning(reply, route, { store, ackMaxChars: ackMaxCharsFor(config(), inbound) }),
    { order: "early" },
  );
}
