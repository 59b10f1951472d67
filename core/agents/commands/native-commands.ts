/** The built-in chat commands. They answer in short Markdown. */

import type { AgentsView } from "../../config/index.ts";
import type { Inbound } from "../../contract/index.ts";
import type { CommandCall } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import type { Compactions } from "../compaction/compaction.ts";
import type { ContextStandings } from "../compaction/context-standing.ts";
import { resetSession } from "../conversation/sessions.ts";
import type { AgentTurns } from "../turn/engine.ts";
import type { ModelStandings } from "../turn/model-standing.ts";
import type { RunningOnNodes } from "../turn/running-on-nodes.ts";
import { placeOf, rememberStop, wasStopped } from "../turn/stops.ts";
import type { StopsOnNodes } from "../turn/stops-on-nodes.ts";
import { choiceCommands } from "./choice-commands.ts";
import type { BuiltInCommand, Commands } from "./commands.ts";
import { compactCommand } from "./compact-command.ts";
import { createModelButtons } from "./model-buttons.ts";
import { createSessionChoices } from "./session-choices.ts";
import { statusCommands } from "./status-commands.ts";
import { toolsCommand } from "./tools-command.ts";

export interface NativeCommandsOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "updateSession" | "get" | "set" | "findSent">;
  readonly standings: ModelStandings;
  readonly contexts: Pick<ContextStandings, "of">;
  readonly compactions: Pick<Compactions, "now">;
  readonly turns: Pick<AgentTurns, "stop" | "tools">;
  /** Ends the turns of other nodes in the same place. */
  readonly stopElsewhere: StopsOnNodes["tell"];
  /** The turns of all nodes. */
  readonly runningNow: RunningOnNodes["now"];
  readonly isOwner: (inbound: Inbound) => Promise<boolean>;
  /** Drops the events that wait for the next turn of the conversation. */
  readonly forget: (call: CommandCall) => Promise<unknown>;
  /** Whether earlier messages still wait for their turn in the same chat. */
  readonly waits: (inbound: Inbound) => Promise<boolean>;
  /** Commands defined in other files. The menu lists them last. */
  readonly more: readonly BuiltInCommand[];
  readonly now: () => number;
}

/** The name is not formatted as code, so that apps let users tap it. */
function commandLine({ name, args, summary }: BuiltInCommand): string {
  return `- /${name}${args === undefined ? "" : ` \`${args}\``}: ${summary}`;
}

export function nativeCommands(
  options: NativeCommandsOptions,
): (commands: Pick<Commands, "list">) => readonly BuiltInCommand[] {
  const { config, store, turns, isOwner, forget, stopElsewhere, runningNow, waits, now } = options;
  const choices = createSessionChoices(options);
  const forGroup = () => true;

  async function stop(call: CommandCall): Promise<string> {
    const asEvent = { event: call.inbound.id, at: now() };
    const stopped = turns.stop(call.route, asEvent);
    const place = placeOf(call.route);
    let elsewhere = false;
    if (place !== undefined) {
      if (await wasStopped(store, { place, event: call.inbound.id })) return "Stopped.";
      await rememberStop(store, { place, ...asEvent });
      elsewhere = await stopElsewhere({ place, ...asEvent });
    }
    return stopped > 0 || elsewhere || (await waits(call.inbound)) ? "Stopped." : "Nothing is running here.";
  }

  async function reset(call: CommandCall): Promise<string> {
    // A new conversation must not begin with events of the old one.
    await forget(call);
    await resetSession(store, { key: call.route.sessionKey, agentId: call.route.agentId, at: now() });
    return "A new conversation begins. The old one is kept, but I no longer use it.";
  }

  return ({ list }) => {
    const native: readonly BuiltInCommand[] = [
      {
        name: "help",
        summary: "what I can do",
        role: "anyone",
        control: true,
        run: () =>
          [
            "Write to me and I answer. While I write, /stop ends the reply. /new starts a new conversation.",
            "",
            "**Commands**",
            ...native.map(commandLine),
          ].join("\n"),
      },
      {
        name: "commands",
        summary: "every command, plugins included",
        role: "anyone",
        control: true,
        run: () => ["**Commands**", ...list().map(({ definition }) => commandLine(definition))].join("\n"),
      },
      ...statusCommands({ choices, contexts: options.contexts, runningNow, isOwner, waits }),
      { name: "new", summary: "begin a new conversation", args: "[MESSAGE]", role: "allowed", forGroup, run: reset },
      { name: "reset", summary: "the same as /new", role: "allowed", forGroup, run: reset },
      { ...compactCommand(options.compactions), forGroup },
      {
        ...{ name: "stop", summary: "stop the reply that is being written", role: "allowed", control: true, forGroup },
        run: stop,
      },
      ...choiceCommands({ config, choices, buttons: createModelButtons(options) }),
      toolsCommand(turns),
      ...options.more,
    ];
    return native;
  };
}
