/** The chat commands of one gateway: the built-in ones with what they stand on, and the way to the configuration file. */
import { settingPath } from "../access/setting-path.ts";
import { type Activation, activationCommand } from "../agents/commands/activation.ts";
import { type Commands, createCommands } from "../agents/commands/commands.ts";
import { configCommand } from "../agents/commands/config-command.ts";
import { type NativeCommandsOptions, nativeCommands } from "../agents/commands/native-commands.ts";
import type { Accounts } from "../channels/accounts.ts";
import { createConfigEditor } from "../config/editing/editor.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { Environment } from "../config/secrets.ts";
import type { Registry } from "../host/registry.ts";
import { controlSuffix } from "../state/lane.ts";
import type { Store } from "../state/store.ts";
import { pluginProblems, schemasOf } from "./config-problems.ts";

export interface ChatCommandsOptions extends Pick<NativeCommandsOptions, "engines" | "turns" | "isOwner" | "forget" | "now"> {
  readonly config: () => GatewayConfig;
  readonly configFile: string;
  readonly environment: Environment;
  readonly store: Store;
  readonly registry: Registry;
  readonly activation: Activation;
  /** Whether an event of the lane waits for a turn of another lane, which runs in the same session. */
  readonly waitsForSession: (lane: string) => boolean;
  /** Made after the commands, which it lists. */
  readonly accounts: () => Accounts;
}

export function createChatCommands(options: ChatCommandsOptions): Commands {
  const { config, store, registry, activation, engines, turns, isOwner, forget, now } = options;
  const plugins = () => [...registry.plugins.values()];
  const editor = createConfigEditor({
    file: options.configFile,
    config,
    schemas: () => schemasOf(plugins()),
    edit: { env: options.environment, check: (checked) => pluginProblems(plugins(), checked, options.environment) },
  });
  const native = nativeCommands({
    config,
    store,
    engines,
    turns,
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
