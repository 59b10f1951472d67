/** `/activation` sets whether a group session answers every message or only mentions. The setting lasts until the gateway stops. */
import type { CommandDefinition } from "../../sdk/contract.ts";

export type ActivationMode = "always" | "mention";

export interface Activation {
  /** The mode of a session; `undefined` when the configuration decides. */
  of(sessionKey: string): ActivationMode | undefined;
  set(sessionKey: string, mode: ActivationMode): void;
  /** Moves the mode to a new session key, because the platform changed the group's id. */
  move(from: string, to: string): void;
}

/** Number of sessions remembered. Beyond it, the session that was set first falls back to the configuration. */
const most = 10_000;

export function createActivation(): Activation {
  const modes = new Map<string, ActivationMode>();
  const set = (sessionKey: string, mode: ActivationMode): void => {
    modes.delete(sessionKey);
    modes.set(sessionKey, mode);
    const [oldest] = modes.keys();
    if (modes.size > most && oldest !== undefined) modes.delete(oldest);
  };
  return {
    of: (sessionKey) => modes.get(sessionKey),
    set,
    move(from, to) {
      const mode = modes.get(from);
      if (mode === undefined) return;
      modes.delete(from);
      set(to, mode);
    },
  };
}

export function activationCommand(activation: Activation): CommandDefinition {
  const words: Readonly<Record<ActivationMode, string>> = {
    always: "I reply to every message here until the gateway restarts.",
    mention: "I reply here only when I am mentioned, until the gateway restarts.",
  };
  return {
    name: "activation",
    summary: "in a group: reply to every message, or only to mentions",
    args: "[always|mention]",
    role: "allowed",
    run({ args, route, inbound }) {
      if (inbound.chat.kind === "direct") return "This works in groups only. In a direct chat I reply to every message.";
      const asked = args.toLowerCase();
      if (asked === "always" || asked === "mention") {
        activation.set(route.sessionKey, asked);
        return words[asked];
      }
      if (asked !== "") return "Use `/activation always` or `/activation mention`.";
      const now = activation.of(route.sessionKey);
      return now === undefined ? "As set in the configuration. Change it with `/activation always|mention`." : words[now];
    },
  };
}
