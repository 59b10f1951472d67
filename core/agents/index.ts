/** Agents: conversations, turns, chat commands, heartbeats. */
export { type Activation, activationCommand, createActivation } from "./commands/activation.ts";
export { approvalCommands } from "./commands/approval-commands.ts";
export { budgetCommands } from "./commands/budget-commands.ts";
export {
  type CommandMatch,
  type CommandReply,
  type Commands,
  commandIn,
  commandTextOf,
  createCommands,
  usedCommand,
} from "./commands/commands.ts";
export { configCommand } from "./commands/config-command.ts";
export { firstMessage, messageForModel } from "./commands/first-message.ts";
export { linkCommand } from "./commands/link-command.ts";
export { type NativeCommandsOptions, nativeCommands } from "./commands/native-commands.ts";
export { pressedCommand } from "./commands/pressed-command.ts";
export { type Compactions, createCompactions } from "./compaction/compaction.ts";
export { type ContextStandings, createContextStandings } from "./compaction/context-standing.ts";
export { createModelRooms } from "./context/model-rooms.ts";
export { createSummaryNotes, type SummaryNotes } from "./context/summary-notes.ts";
export { turnFill } from "./context/turn-fill.ts";
export { createForgetMessage, editedText } from "./conversation/deleted-words.ts";
export { createGroupContext } from "./conversation/group-context.ts";
export { groupHistoryLimit, historyLimit } from "./conversation/history-limit.ts";
export { isPluginTurn } from "./conversation/plugin-turn.ts";
export { reactionNotifications, unheardReaction } from "./conversation/reactions.ts";
export { agentFor, movedSessions, sessionKeyFor } from "./conversation/sessions.ts";
export { isOnlyVoice, isSound, unheardPeople } from "./conversation/sounds.ts";
export { deliveredAlready } from "./conversation/summarized-replies.ts";
export { eventQueue, followUps } from "./conversation/system-events.ts";
export { turnMessages } from "./conversation/transcript.ts";
export { createTurnContext, type TurnContext } from "./conversation/turn-context.ts";
export { createWaitingEvents, type WaitingEvents } from "./conversation/waiting-events.ts";
export { createHeartbeat, type Heartbeat, parseHeartbeat } from "./heartbeat/heartbeat.ts";
export { createRouter, type Router } from "./route.ts";
export { askerOf } from "./spending/asker.ts";
export { createSpending, type Spending } from "./spending/spending.ts";
export { unpricedProblems } from "./spending/unpriced-models.ts";
export { impossibleTopic, parseTarget } from "./target.ts";
export type { OwnerAt } from "./tools/approval-places.ts";
export { createApprovals } from "./tools/approvals.ts";
export { createOfferedTools, type OfferedTools, type OwnTool } from "./tools/offered-tools.ts";
export type { RefusedTool, RefusedTools } from "./tools/refused-tools.ts";
export { createSkills } from "./tools/skills.ts";
export { acknowledgement, createRefusedAcknowledgements, refusalReaction } from "./turn/acknowledgement.ts";
export { createFactsOfAnswers, type FactsOfAnswers } from "./turn/answer-facts.ts";
export { createDescribe } from "./turn/description.ts";
export { type AgentTurns, type AgentTurnsOptions, createAgentTurns } from "./turn/engine.ts";
export { type Engines, keepEngines } from "./turn/engines.ts";
export { createFixedTexts } from "./turn/fixed-texts.ts";
export { hearingModels, listenersOf } from "./turn/hearing-models.ts";
export { createModelOutages, type ModelOutages } from "./turn/model-outages.ts";
export { createModelStandings, type ModelStanding, type ModelStandings } from "./turn/model-standing.ts";
export { createModelTest, type TestModel } from "./turn/model-test.ts";
export type { ActingHint } from "./turn/prompt.ts";
export { resolveProviders } from "./turn/providers.ts";
export { withPrefix } from "./turn/response-prefix.ts";
export { createRunningOnNodes, type RunningOnNodes } from "./turn/running-on-nodes.ts";
export { createStopsOnNodes, type StopsOnNodes } from "./turn/stops-on-nodes.ts";
