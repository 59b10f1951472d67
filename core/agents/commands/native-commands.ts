/** The built-in chat commands. They answer in short Markdown. */

import { type AgentSettings, type AgentsView, agentSettings, aliasOf, knownAgentId, modelNames, resolveModel } from "../../config/index.ts";
import { type Inbound, type Json, reasonOf, type Thinking } from "../../contract/index.ts";
import type { CommandCall, CommandDefinition } from "../../sdk/contract.ts";
import type { SessionRecord, Store } from "../../state/index.ts";
import { plainName } from "../conversation/envelope.ts";
import { resetSession } from "../conversation/sessions.ts";
import { type AgentTurns, chooseEngine, type Engines, type RunningTurn } from "../turn/engine.ts";
import { chooseModels } from "../turn/models.ts";
import { placeOf, rememberStop } from "../turn/stops.ts";
import type { Commands } from "./commands.ts";

const thinkingLevels: readonly Thinking[] = ["off", "minimal", "low", "medium", "high", "max"];
const doingWords: Readonly<Record<RunningTurn["doing"], string>> = { fetching: "fetching files", answering: "answering" };
const reasoningModes = ["on", "off", "stream"] as const;

export interface NativeCommandsOptions {
  readonly config: () => AgentsView;
  readonly store: Pick<Store, "session" | "updateSession" | "set">;
  readonly engines: Engines;
  readonly turns: Pick<AgentTurns, "stop" | "running">;
  readonly isOwner: (inbound: Inbound) => boolean | Promise<boolean>;
  /** Drops the events that wait for the next turn of the conversation. */
  readonly forget: (call: CommandCall) => Promise<unknown>;
  /** Whether earlier messages still wait for their turn in the same chat. */
  readonly waits: (inbound: Inbound) => Promise<boolean>;
  /** Commands defined in other files. The menu lists them last. */
  readonly more: readonly CommandDefinition[];
  readonly now: () => number;
}

/** Escapes a user's name so that it cannot act as markup. */
function escaped(name: string): string {
  return plainName(name).replace(/[\\*_~|#+=!-]/g, "\\$&");
}

/** The name is not formatted as code, so that apps let users tap it. */
function commandLine({ name, args, summary }: CommandDefinition): string {
  return `- /${name}${args === undefined ? "" : ` \`${args}\``}: ${summary}`;
}

function settingOf(session: SessionRecord | null, key: string): string | undefined {
  const value = session?.settings[key];
  return typeof value === "string" ? value : undefined;
}

export function nativeCommands(options: NativeCommandsOptions): (commands: Pick<Commands, "list">) => readonly CommandDefinition[] {
  const { config, store, engines, turns, isOwner, forget, waits, now } = options;

  const agentOf = (call: CommandCall): AgentSettings => agentSettings(config(), knownAgentId(config(), call.route.agentId));

  async function set(call: CommandCall, key: string, value: Json): Promise<void> {
    await store.updateSession(call.route.sessionKey, { agentId: call.route.agentId, at: now(), settings: { [key]: value } });
  }

  /** The model and engine that would answer the next message, or a sentence that says why none can. */
  function answering(agent: AgentSettings, asked: string | undefined): string {
    try {
      const allowed = asked === undefined || resolveModel(asked, agent.models) !== undefined;
      const { model } = chooseModels(agent, allowed ? asked : undefined);
      const engine = chooseEngine(engines, agent, model);
      return model === undefined ? `no model, the engine \`${engine.id}\`` : `\`${model}\``;
    } catch (thrown) {
      return `none (${reasonOf(thrown)})`;
    }
  }

  async function doingNow(call: CommandCall): Promise<string> {
    const mine = turns.running().filter((turn) => turn.sessionKey === call.route.sessionKey);
    const [first] = mine.toSorted((a, b) => a.startedAt - b.startedAt);
    if (first === undefined) return (await waits(call.inbound)) ? "a message waits for its turn" : "idle";
    return `${doingWords[first.doing]} for ${Math.round((now() - first.startedAt) / 1_000)} s`;
  }

  async function status(call: CommandCall): Promise<string> {
    const session = await store.session(call.route.sessionKey);
    const agent = agentOf(call);
    return [
      "**Status**",
      `- Agent: \`${agent.id}\`${agent.name === undefined ? "" : ` (${escaped(agent.name)})`}`,
      `- Session: \`${call.route.sessionKey}\``,
      `- Model: ${answering(agent, settingOf(session, "model"))}`,
      `- Thinking: ${settingOf(session, "thinking") ?? agent.thinking ?? "off"}, reasoning shown: ${settingOf(session, "reasoning") ?? "off"}`,
      `- Now: ${await doingNow(call)}, ${turns.running().length} at work in all`,
    ].join("\n");
  }

  async function whoami({ inbound }: CommandCall): Promise<string> {
    const { sender, chat } = inbound;
    const names = [
      sender.name === undefined ? "" : escaped(sender.name),
      sender.username === undefined ? "" : `@${escaped(sender.username)}`,
    ];
    return [
      `**You** ${names.filter((name) => name !== "").join(" ")}`.trim(),
      `- Id: \`${sender.id}\``,
      `- Chat: \`${chat.id}\` (${chat.kind}${chat.thread === undefined ? "" : `, thread \`${chat.thread}\``})`,
      `- Channel: ${inbound.channel}, account \`${inbound.account}\``,
      `- Owner: ${(await isOwner(inbound)) ? "yes" : "no"}`,
    ].join("\n");
  }

  async function model(call: CommandCall): Promise<string> {
    const agent = agentOf(call);
    const current = settingOf(await store.session(call.route.sessionKey), "model");
    if (call.args === "") {
      const choices = modelNames(agent.models).map((name) => {
        const alias = aliasOf(name, agent.models);
        return `- \`${name}\`${alias === undefined ? "" : ` (\`${alias}\`)`}`;
      });
      const listed = choices.length === 0 ? "" : `\n\nTo choose from:\n${choices.join("\n")}`;
      return `Model: ${answering(agent, current)}.${listed}\n\n\`/model NAME\` sets it for this conversation, \`/model default\` takes it back.`;
    }
    if (call.args.toLowerCase() === "default") {
      await set(call, "model", null);
      return `Back to the default: ${answering(agent, undefined)}.`;
    }
    const chosen = resolveModel(call.args, agent.models);
    if (chosen === undefined)
      return "There is no such model. /model lists those to choose from; write it as `provider/model`, or as an alias.";
    await set(call, "model", chosen);
    const [provider = ""] = chosen.split("/", 1);
    const known = Object.hasOwn(config().models?.providers ?? {}, provider);
    const doubt = known ? "" : ` \`models.providers\` has no \`${provider}\`: if no answer comes, \`/model default\` takes it back.`;
    return `This conversation now uses \`${chosen}\`.${doubt}`;
  }

  /** Shows or changes a setting that accepts only the given words. */
  async function choose(call: CommandCall, key: string, words: readonly string[], current: string): Promise<string> {
    const asked = call.args.toLowerCase();
    const usage = `\`/${call.name} ${words.join("|")}\``;
    if (asked === "") return `${call.name === "think" ? "Thinking" : "Reasoning shown"}: ${current}. Change it with ${usage}.`;
    if (!words.includes(asked)) return `I know ${usage}.`;
    await set(call, key, asked);
    return `${call.name === "think" ? "Thinking" : "Reasoning shown"}: ${asked}.`;
  }

  async function stop(call: CommandCall): Promise<string> {
    const stopped = turns.stop(call.route);
    const place = placeOf(call.route);
    if (place !== undefined) await rememberStop(store, { place, event: call.inbound.id, at: now() });
    return stopped > 0 || (await waits(call.inbound)) ? "Stopped." : "Nothing is running here.";
  }

  async function reset(call: CommandCall): Promise<string> {
    // A new conversation must not begin with events of the old one.
    await forget(call);
    await resetSession(store, { key: call.route.sessionKey, agentId: call.route.agentId, at: now() });
    return "A new conversation begins. The old one is kept, and I no longer look at it.";
  }

  return ({ list }) => {
    const native: readonly CommandDefinition[] = [
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
      { name: "status", summary: "agent, session and model of this chat", role: "anyone", control: true, run: status },
      { name: "whoami", summary: "your id, as configurations need it", role: "anyone", control: true, run: whoami },
      { name: "new", summary: "begin a new conversation", args: "[MESSAGE]", role: "allowed", run: reset },
      { name: "reset", summary: "the same as /new", role: "allowed", run: reset },
      { name: "stop", summary: "end the answer that is being written", role: "allowed", control: true, run: stop },
      { name: "model", summary: "show or choose the model", args: "[NAME|default]", role: "allowed", run: model },
      {
        name: "think",
        summary: "how much to think before answering",
        args: `[${thinkingLevels.join("|")}]`,
        role: "allowed",
        run: async (call) => {
          const set = settingOf(await store.session(call.route.sessionKey), "thinking");
          return choose(call, "thinking", thinkingLevels, set ?? agentOf(call).thinking ?? "off");
        },
      },
      {
        name: "reasoning",
        summary: "whether thoughts are shown",
        args: `[${reasoningModes.join("|")}]`,
        role: "allowed",
        run: async (call) => {
          const set = settingOf(await store.session(call.route.sessionKey), "reasoning");
          return choose(call, "reasoning", reasoningModes, set ?? "off");
        },
      },
      ...options.more,
    ];
    return native;
  };
}
