/** What a plugin's command receives. Each part is created when the command first uses it. */
import { timezoneOf } from "../../config/agents.ts";
import { programCommand } from "../../contract/command.ts";
import { PluginError } from "../../contract/errors.ts";
import type { Json } from "../../contract/types.ts";
import { scopedStore } from "../../host/scope.ts";
import { visible } from "../../log/visible.ts";
import type { CliCall, PluginDefinition, PluginStore } from "../../sdk/contract.ts";
import { createIds } from "../../state/ids.ts";
import type { Store } from "../../state/store.ts";
import type { CommandContext } from "../context.ts";
import { createQuestions } from "../output/questions.ts";
import { createStop } from "../output/stop.ts";
import type { RunningGateway } from "../running-gateway.ts";
import { openOwnConfiguration, openSection } from "./own-configuration.ts";
import { openPreset } from "./preset-section.ts";
import { createSecretFiles } from "./secret-files.ts";

interface Called {
  readonly definition: Pick<PluginDefinition, "id" | "presets" | "section" | "channel">;
  readonly args: CliCall["args"];
  readonly options: CliCall["options"];
  readonly prepares: boolean;
  readonly json: boolean;
}

const progressAfterMs = 1_000;

/** `close` releases what the command has opened. */
export function openCall(context: CommandContext, called: Called): { readonly call: CliCall; close(): Promise<void> } {
  const { definition, args, options, prepares, json } = called;
  const { id: plugin, presets = [], section, channel } = definition;
  const { terminal, now } = context;
  let opened: Promise<Store> | undefined;
  const own = openOwnConfiguration(context, definition);
  const open = () => (opened ??= context.openState({ create: prepares }));
  /** Before the first start of a gateway the store is empty, and a command that only reads creates no state. */
  const isEmpty = async () => prepares && opened === undefined && !(await context.hasState());
  const stop = createStop();
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const call: CliCall = {
    args,
    options,
    program: programCommand,
    store: lateStore({ isEmpty, open: async () => scopedStore(await open(), `plugin:${plugin}`, now) }),
    get signal() {
      return stop.signal();
    },
    ...(isTerminal ? { terminal: createQuestions(process) } : {}),
    say(line) {
      if (json) return;
      if (typeof line === "string") terminal.line(visible(line));
      else terminal.table([line.map(visible)]);
    },
    async progress(doing, work) {
      const timer = setTimeout(() => terminal.note(`${doing} ...`), progressAfterMs);
      return await work.finally(() => clearTimeout(timer));
    },
    preset(id) {
      if (!presets.some((preset) => preset.id === id))
        throw new PluginError("plugin_invalid", { plugin, reason: `it declares no preset ${id}` });
      return openPreset(context, id, own);
    },
    async section(key) {
      if (section?.key !== key)
        throw new PluginError("plugin_invalid", { plugin, reason: `it declares no section ${key}` });
      return (await openSection(section, own)) as never;
    },
    timezone: async () => timezoneOf((await context.load()).checkable),
    secretFiles: createSecretFiles({ plugin, stateDirectory: context.stateDirectory }),
    async account(id) {
      if (channel === undefined) throw new PluginError("plugin_invalid", { plugin, reason: "it declares no channel" });
      return await (await import("./channel-account.ts")).openAccount(context, { plugin, channel, id });
    },
    async gateway() {
      const running = await context.gateway();
      if (running === null) return undefined;
      const { watched } = ((await running.describe()) ?? {}) as {
        readonly watched?: Readonly<Record<string, Watched>>;
      };
      return { url: running.url, watched: watched?.[plugin] ?? [], call: callTo(running, plugin) };
    },
    now,
    newId: createIds(now),
  };
  return {
    call,
    async close() {
      stop.forget();
      const store = await opened?.catch(() => undefined);
      await store?.close();
    },
  };
}

type Gateway = NonNullable<Awaited<ReturnType<CliCall["gateway"]>>>;

const answerMs = 30_000;

function callTo(running: RunningGateway, plugin: string): Gateway["call"] {
  return async (method, path, body) => {
    const address = path.startsWith("/") ? path : `/plugins/${plugin}/${path}`;
    const answer = await running.call(method, address, { patienceMs: answerMs, body });
    if (answer === null) throw new Error("The gateway did not answer.");
    const { error, hint, code } = (answer.body ?? {}) as {
      readonly error?: unknown;
      readonly hint?: unknown;
      readonly code?: unknown;
    };
    if (!answer.ok && code === "not_found")
      throw new Error(
        `The plugin ${plugin} of the running gateway does not answer: \`${programCommand} plugins list\` ` +
          "shows whether it is up.",
      );
    if (!answer.ok)
      throw new Error(
        [error, hint].filter((part) => typeof part === "string").join(" ") || "The gateway refused the call.",
      );
    return answer.body as Json;
  };
}

type Watched = Gateway["watched"];

/** Opened by the first call that needs it. */
function lateStore({ isEmpty, open }: { isEmpty(): Promise<boolean>; open(): Promise<PluginStore> }): PluginStore {
  return {
    get: async (key) => ((await isEmpty()) ? null : await (await open()).get(key)),
    set: async (key, value, options) => await (await open()).set(key, value, options),
    delete: async (key) => ((await isEmpty()) ? false : await (await open()).delete(key)),
    list: async (options) => ((await isEmpty()) ? [] : await (await open()).list(options)),
    update: async (key, change, options) => await (await open()).update(key, change, options),
  };
}
