/** The commands that show where a conversation stands, and who writes in it. */
import type { Inbound } from "../../contract/index.ts";
import { escapeMarkdown } from "../../reply/index.ts";
import type { CommandCall, CommandDefinition } from "../../sdk/contract.ts";
import type { ContextStandings } from "../compaction/context-standing.ts";
import { plainName } from "../conversation/envelope.ts";
import { renderShare } from "../spending/wording.ts";
import type { RunningNow, RunningOnNodes, TurnNow } from "../turn/running-on-nodes.ts";
import type { SessionChoices } from "./session-choices.ts";

const doingWords: Readonly<Record<TurnNow["doing"], string>> = { fetching: "fetching files", answering: "answering" };

/** Another user's name inside an answer: it must not become markup. */
const escaped = (name: string): string => escapeMarkdown(plainName(name));

export function statusCommands(options: {
  readonly choices: SessionChoices;
  readonly contexts: Pick<ContextStandings, "of">;
  readonly runningNow: RunningOnNodes["now"];
  readonly isOwner: (inbound: Inbound) => Promise<boolean>;
  /** Whether anything that came before waits for its turn in the same chat. */
  readonly waits: (inbound: Inbound) => Promise<boolean>;
}): readonly CommandDefinition[] {
  const { choices, contexts, runningNow, isOwner, waits } = options;

  /** `7,900 of 32,000 tokens, 2 summaries`. Empty without a model, or where the next turn could not begin either. */
  async function contextLine({ inbound, route }: CommandCall): Promise<readonly string[]> {
    const standing = await contexts.of(inbound, route).catch(() => undefined);
    if (standing?.room === undefined || standing.userTurns === 0) return [];
    const { summaries } = standing.conversation;
    const made = summaries === 0 ? "" : `, ${summaries} ${summaries === 1 ? "summary" : "summaries"}`;
    return [`- Context: ${renderShare(standing.tokens, standing.room.tokens, "tokens")}${made}`];
  }

  async function doingNow({ first }: RunningNow, inbound: Inbound): Promise<string> {
    if (first === null) return (await waits(inbound)) ? "a message waits for its turn" : "idle";
    return `${doingWords[first.doing]} for ${Math.round(first.forMs / 1_000)} s`;
  }

  async function status(call: CommandCall): Promise<string> {
    const agent = choices.agentOf(call);
    const { model, thinking, reasoning } = await choices.made(call);
    const running = await runningNow({ event: call.inbound.id, sessionKey: call.route.sessionKey });
    return [
      "**Status**",
      `- Agent: \`${agent.id}\`${agent.name === undefined ? "" : ` (${escaped(agent.name)})`}`,
      `- Session: \`${call.route.sessionKey}\``,
      `- Model: ${await choices.answering(agent, model)}`,
      ...(await contextLine(call)),
      `- Thinking: ${thinking ?? agent.thinking ?? "off"}, reasoning shown: ${reasoning ?? "off"}`,
      `- Now: ${await doingNow(running, call.inbound)}, ${running.total} running in total`,
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
