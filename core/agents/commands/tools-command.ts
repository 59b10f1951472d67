/** `/tools`: which tools the agent has in this conversation. */
import { EngineError } from "../../contract/index.ts";
import { escapeMarkdown } from "../../reply/index.ts";
import type { CommandDefinition } from "../../sdk/contract.ts";
import type { AgentTurns } from "../turn/engine.ts";

const mostCharacters = 120;

/** The first sentence, on one line: descriptions are written for models, also by servers, and can be long. */
function firstSentence(description: string): string {
  const [sentence = ""] = description
    .replace(/\s+/g, " ")
    .trim()
    .split(/(?<=[.!?]) /, 1);
  return sentence.length <= mostCharacters ? sentence : `${sentence.slice(0, mostCharacters).trimEnd()}…`;
}

export function toolsCommand(turns: Pick<AgentTurns, "tools">): CommandDefinition {
  return {
    name: "tools",
    summary: "which tools I have here",
    role: "allowed",
    control: true,
    async run({ inbound, route }) {
      try {
        const found = await turns.tools(inbound, route);
        const lines = (await found.list()).map(
          ({ name, description, asks }) =>
            `- \`${name}\`${asks ? " (asks an owner first)" : ""}: ${escapeMarkdown(firstSentence(description))}`,
        );
        const notes = found.notes.length === 0 ? [] : ["", ...found.notes.map(escapeMarkdown)];
        return lines.length === 0
          ? ["I have no tools here.", ...notes].join("\n")
          : ["**Tools**", ...lines, ...notes].join("\n");
      } catch (error) {
        if (error instanceof EngineError) return `${escapeMarkdown(error.message)}.`;
        throw error;
      }
    },
  };
}
