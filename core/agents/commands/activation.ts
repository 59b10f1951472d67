/**
 * `/activation` sets whether a group session answers every message or only mentions. The setting lasts until the
 * gateway stops. The other nodes of a store that run at the time follow it.
 */
import type { NodeNote, Store } from "../../state/index.ts";
import { type BuiltInCommand, withArguments } from "./commands.ts";

export type ActivationMode = "always" | "mention";

export interface Activation {
  /** The mode of a session; `undefined` when the configuration decides. */
  of(sessionKey: string): ActivationMode | undefined;
  /** Also on the other nodes. */
  set(sessionKey: string, mode: ActivationMode): Promise<void>;
  /** Handles a note of another node; ignores those about something else. */
  hear(note: NodeNote): void;
  /** Moves the mode to a new session key, because the platform changed the group's id. */
  move(from: string, to: string): void;
}

/** Number of sessions remembered. Beyond it, the session that was set first falls back to the configuration. */
const most = 10_000;

const topic = "activation";

/** The note that a node sends to the others. */
interface ActivationNote {
  readonly sessionKey: string;
  readonly mode: ActivationMode;
}

export function createActivation({ nodes }: Pick<Store, "nodes">): Activation {
  const modes = new Map<string, ActivationMode>();
  const setHere = (sessionKey: string, mode: ActivationMode): void => {
    modes.delete(sessionKey);
    modes.set(sessionKey, mode);
    const [oldest] = modes.keys();
    if (modes.size > most && oldest !== undefined) modes.delete(oldest);
  };
  return {
    of: (sessionKey) => modes.get(sessionKey),
    async set(sessionKey, mode) {
      setHere(sessionKey, mode);
      await nodes?.send({ topic, body: { sessionKey, mode } });
    },
    hear(note) {
      if (note.topic !== topic) return;
      const { sessionKey, mode } = note.body as unknown as Partial<ActivationNote>;
      if (typeof sessionKey === "string" && (mode === "always" || mode === "mention")) setHere(sessionKey, mode);
    },
    move(from, to) {
      const mode = modes.get(from);
      if (mode === undefined) return;
      modes.delete(from);
      setHere(to, mode);
    },
  };
}

export function activationCommand(activation: Activation): BuiltInCommand {
  const words: Readonly<Record<ActivationMode, string>> = {
    always: "I reply to every message here until the gateway restarts.",
    mention: "I reply here only when I am mentioned, until the gateway restarts.",
  };
  return {
    name: "activation",
    summary: "in a group: reply to every message, or only to mentions",
    args: "[always|mention]",
    role: "allowed",
    forGroup: withArguments,
    async run({ args, route, inbound }) {
      if (inbound.chat.kind === "direct")
        return "This works in groups only. In a direct chat I reply to every message.";
      const asked = args.toLowerCase();
      if (asked === "always" || asked === "mention") {
        await activation.set(route.sessionKey, asked);
        return words[asked];
      }
      if (asked !== "") return "Use `/activation always` or `/activation mention`.";
      const now = activation.of(route.sessionKey);
      return now === undefined
        ? "As set in the configuration. Change it with `/activation always|mention`."
        : words[now];
    },
  };
}
