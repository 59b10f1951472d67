/** The commands that show where a conversation stands, and who writes in it. */
import type { Inbound } from "../../contract/index.ts";
import type { CommandCall, CommandDefinition } from "../../sdk/contract.ts";
import { plainName } from "../conversation/envelope.ts";
import type { AgentTurns } from "../turn/engine.ts";
import type { RunningTurn } from "../turn/preparing-turns.ts";
import type { SessionChoices } from "./session-choices.ts";

const doingWords: Readonly<Record<RunningTurn["doing"], string>> = { fetching: "fetching files", answering: "answering" };

/** Another user's name inside an answer: it must not become markup. */
function escaped(name: string): string {
  return plainName(name).replace(/[\\*_~|#+=!-]/g, "\\$&");
}

export function statusCommands(options: {
  readonly choices: SessionChoices;
  readonly turns: Pick<AgentTurns, "running">;
  readonly isOwner: (inbound: Inbound) => boolean | Promise<boolean>;
  /** Whether anything that came before waits for its turn in the same chat. */
  readonly waits: (inbound: Inbound) => Promise<boolean>;
  readonly now: () => number;
}): readonly CommandDefinition[] {
  const { choices, turns, isOwner, waits, now } = options;

  async function doingNow(call: CommandCall): Promise<string> {
    const mine = turns.running().filter((turn) => turn.sessionKey === call.route.sessionKey);
    const [first] = mine.toSorted((a, b) => a.startedAt - b.startedAt);
    if (first === undefined) return (await waits(call.inbound)) ? "a message waits for its turn" : "idle";
    return `${doingWords[first.doing]} for ${Math.round((now() - first.startedAt) / 1_000)} s`;
  }

  async function status(call: CommandCall): Promise<string> {
    const agent = choices.agentOf(call);
    const { model, thinking, reasoning } = await choices.made(call);
    return [
      "**Status**",
      `- Agent: \`${agent.id}\`${agent.name === undefined ? "" : ` (${escaped(agent.name)})`}`,
      `- Session: \`${call.route.sessionKey}\``,
      `- Model: ${choices.answering(agent, model)}`,
      `- Thinking: ${thinking ?? agent.thinking ?? "off"}, reasoning shown: ${reasoning ?? "off"}`,
      `- Now: ${await doingNow(call)}, ${turns.running().length} running in total`,
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

  return [
    { name: "status", summary: "agent, session and model of this chat", role: "anyone", control: true, run: status },
    { name: "whoami", summary: "your id, for use in the configuration", role: "anyone", control: true, run: whoami },
  ];
}
