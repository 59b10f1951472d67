/** The commands with which a conversation chooses its model, its thinking, and whether thoughts are shown. */
import {
  type AgentsView,
  aliasOf,
  defaultWord,
  isFullModelName,
  modelNames,
  providerOf,
  providerSettings,
  resolveAskedModel,
  resolveModel,
} from "../../config/index.ts";
import type { Thinking } from "../../contract/index.ts";
import type { CommandCall } from "../../sdk/contract.ts";
import { type BuiltInCommand, type CommandReply, withArguments } from "./commands.ts";
import type { ModelButtons } from "./model-buttons.ts";
import type { SessionChoices } from "./session-choices.ts";

const thinkingLevels: readonly Thinking[] = ["off", "minimal", "low", "medium", "high", "max"];
const reasoningModes = ["on", "off", "stream"] as const;

export function choiceCommands({
  config,
  choices,
  buttons,
}: {
  readonly config: () => AgentsView;
  readonly choices: SessionChoices;
  readonly buttons: ModelButtons;
}): readonly BuiltInCommand[] {
  async function model(call: CommandCall): Promise<string | CommandReply> {
    if (call.inbound.kind === "press" && !(await buttons.isOffered(call)))
      return "That button is not one of a list that /model has sent lately. Send /model for a new one.";
    const agent = choices.agentOf(call);
    const { model: current } = await choices.made(call);
    if (call.args === "") {
      const names = modelNames(agent.models).map((name) => {
        const alias = aliasOf(name, agent.models);
        // The alias of two models means the first of them.
        const isOwn = alias !== undefined && resolveModel(alias, agent.models) === name;
        return `- \`${name}\`${isOwn ? ` (\`${alias}\`)` : ""}`;
      });
      const listed = names.length === 0 ? "" : `\n\nTo choose from:\n${names.join("\n")}`;
      const offered = await buttons.offer(call, agent.models, current);
      const isPart = offered.length > 0 && offered.flat().length < names.length;
      const text =
        `Model: ${await choices.answering(agent, current)}.${listed}\n\n\`/model NAME\` sets it for ` +
        `this conversation${isPart ? ", also one without a button below" : ""}, \`/model ${defaultWord}\` resets it.`;
      return { text, buttons: offered };
    }
    if (call.args.toLowerCase() === defaultWord) {
      await choices.set(call, "model", null);
      return `Back to the default: ${await choices.answering(agent, undefined)}.`;
    }
    const chosen = resolveAskedModel(call.args, agent.models, config());
    if (chosen === undefined && agent.models === undefined && isFullModelName(call.args))
      return (
        `The configuration uses no model of \`${providerOf(call.args)}\`. The operator can allow it by ` +
        "`agents.defaults.models` or `models.providers`."
      );
    if (chosen === undefined)
      return "The model is unknown. /model lists the available ones; write it as `provider/model`, or as an alias.";
    await choices.set(call, "model", chosen);
    const provider = providerOf(chosen);
    const doubt = providerSettings(config(), provider)
      ? ""
      : ` \`models.providers\` has no \`${provider}\`: if no answer comes, \`/model default\` resets it.`;
    return `This conversation now uses \`${chosen}\`.${doubt}`;
  }

  /** A setting with a few words for values. */
  async function choose(
    call: CommandCall,
    key: "thinking" | "reasoning",
    words: readonly string[],
    current: string,
  ): Promise<string> {
    const asked = call.args.toLowerCase();
    const usage = `\`/${call.name} ${words.join("|")}\``;
    if (asked === "")
      return `${call.name === "think" ? "Thinking" : "Reasoning shown"}: ${current}. Change it with ${usage}.`;
    if (!words.includes(asked)) return `I know ${usage}.`;
    await choices.set(call, key, asked);
    return `${call.name === "think" ? "Thinking" : "Reasoning shown"}: ${asked}.`;
  }

  return [
    {
      ...{ name: "model", summary: "show or choose the model", args: "[NAME|default]", role: "allowed" },
      forGroup: withArguments,
      run: model,
    },
    {
      name: "think",
      summary: "how much to think before answering",
      args: `[${thinkingLevels.join("|")}]`,
      role: "allowed",
      forGroup: withArguments,
      run: async (call) =>
        choose(
          call,
          "thinking",
          thinkingLevels,
          (await choices.made(call)).thinking ?? choices.agentOf(call).thinking ?? "off",
        ),
    },
    {
      name: "reasoning",
      summary: "whether thoughts are shown",
      args: `[${reasoningModes.join("|")}]`,
      role: "allowed",
      forGroup: withArguments,
      run: async (call) => choose(call, "reasoning", reasoningModes, (await choices.made(call)).reasoning ?? "off"),
    },
  ];
}
