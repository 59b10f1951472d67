/**
 * The chat commands of one gateway: the built-in ones with their dependencies, and access to the configuration file.
 */
import { settingPath } from "../../access/index.ts";
import {
  type Activation,
  activationCommand,
  approvalCommands,
  budgetCommands,
  type Commands,
  configCommand,
  createCommands,
  linkCommand,
  type NativeCommandsOptions,
  nativeCommands,
  type Spending,
} from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import { createConfigEditor, type Environment, type GatewayConfig } from "../../config/index.ts";
import { type Registry, schemasOf } from "../../host/index.ts";
import { controlSuffix, type Store } from "../../state/index.ts";
import { pluginProblems } from "../config-problems.ts";

export interface ChatCommandsOptions
  extends Pick<
    NativeCommandsOptions,
    "standings" | "contexts" | "compactions" | "turns" | "stopElsewhere" | "runningNow" | "isOwner" | "forget" | "now"
  > {
  readonly config: () => GatewayConfig;
  readonly configFile: string;
  readonly environment: Environment;
  readonly store: Store;
  readonly registry: Registry;
  readonly activation: Activation;
  readonly spending: Spending;
  readonly approvals: Parameters<typeof approvalCommands>[0];
  readonly linking: Parameters<typeof linkCommand>[0];
  /** Whether an event of the lane waits for a turn of another lane in the same session. */
  readonly waitsForSession: (lane: string) => boolean;
  /** Created after the commands, because it lists them. */
  readonly accounts: () => Accounts;
}

export function createChatCommands(options: ChatCommandsOptions): Commands {
  const { config, store, registry, activation, standings, turns, stopElsewhere, runningNow, isOwner, forget, now } =
    options;
  const plugins = () => [...registry.plugins.values()];
  const editor = createConfigEditor({
    file: options.configFile,
    config,
    schemas: () => schemasOf(plugins(), registry.off.keys()),
    edit: {
      env: options.environment,
      check: (checked) => pluginProblems(plugins(), checked, { env: options.environment, now }),
    },
  });
  const native = nativeCommands({
    config,
    store,
    standings,
    contexts: options.contexts,
    compactions: options.compactions,
    turns,
    stopElsewhere,
    runningNow,
    isOwner,
    forget,
    now,
    async waits({ id }) {
      const lane = (await store.event(id))?.lane.replace(controlSuffix, "");
      if (lane !== undefined && options.waitsForSession(lane)) return true;
      return (await store.waitingLanes()).some((waiting) => waiting.lane === lane);
    },
    more: [
      activationCommand(activation),
      ...budgetCommands({ spending: options.spending, isOwner }),
      ...approvalCommands(options.approvals),
      linkCommand(options.linking),
      configCommand({
        editor,
        enabled: () => config().commands.config,
        forbidden({ inbound: { channel, account } }) {
          if (options.accounts().get(channel, account)?.options.configWrites !== false) return undefined;
          return settingPath(config().channels[channel], channel, account)(["configWrites"]);
        },
      }),
    ],
  });
  return createCommands({
    native,
    nativeEnabled: () => config().commands.native !== false,
    abortWords: () => config().commands.abortWords,
  });
}
