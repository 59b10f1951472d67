/** What the agents contribute to the path of an event besides their taps. */
import type { Gate } from "../../access/index.ts";
import {
  type AgentTurns,
  acknowledgement,
  agentFor,
  askerOf,
  type createDescribe,
  createRefusedAcknowledgements,
  type FactsOfAnswers,
  followUps,
  isPluginTurn,
  type ModelOutages,
  messageForModel,
  type OfferedTools,
  pressedCommand,
  refusalReaction,
  type Spending,
  type SummaryNotes,
  type TurnContext,
  turnMessages,
  usedCommand,
  withPrefix,
} from "../../agents/index.ts";
import { type Accounts, completeMedia } from "../../channels/index.ts";
import { agentSettings, type GatewayConfig, knownAgentId } from "../../config/index.ts";
import { findCode, type Inbound, type Reply, reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { AgentSide } from "../../path/index.ts";
import { mayBeSilent, noHeartbeat, silenceReason } from "../../reply/index.ts";
import { askedModels, type FormattingContext, quietLine, toolCalls, type Visit } from "../../stations/index.ts";
import { storedReply } from "../../webhooks/index.ts";
import type { OutboundFiles } from "./outbound-files.ts";
import type { GatewaySpeech } from "./speech.ts";

/** How many characters may surround a heartbeat's acknowledgement, unless the agent's settings say otherwise. */
const ackMaxChars = 300;

/**
 * A person reads every word beside the token. A heartbeat or webhook that says little more than the token stays silent.
 * In a turn that a plugin requests, the token is a text like any other.
 */
export function ackMaxCharsFor(config: GatewayConfig, inbound: Inbound): number {
  if (isPluginTurn(inbound)) return noHeartbeat;
  return inbound.request === undefined
    ? 0
    : (agentSettings(config, agentFor(config, inbound)).heartbeat.ackMaxChars ?? ackMaxChars);
}

const defaultPatienceHours = 6;

/** Only under a reply that people read, and not while it grows. */
function withQuietLine(reply: Reply, { preview }: Pick<FormattingContext, "preview">, visit: Visit): Reply {
  const line = preview === true || reply.text.trim() === "" ? undefined : visit.get(quietLine);
  return line === undefined ? reply : { ...reply, text: `${reply.text.trimEnd()}\n\n_${line}_` };
}

const isDeliverOnly = ({ request }: Inbound) => request?.deliverOnly === true;

export interface AgentSideOptions {
  readonly config: () => GatewayConfig;
  readonly accounts: Accounts;
  readonly optionsOf: (at: Pick<Inbound, "channel" | "account">) => Readonly<Record<string, unknown>> | undefined;
  readonly gate: Pick<Gate, "pathsOf">;
  readonly turns: AgentTurns;
  readonly offered: Pick<OfferedTools, "asksPerson" | "callsOf">;
  readonly context: TurnContext;
  readonly facts: FactsOfAnswers;
  readonly describe: ReturnType<typeof createDescribe>;
  readonly spending: Spending;
  readonly outages: ModelOutages;
  readonly summaryNotes: SummaryNotes;
  readonly files: OutboundFiles;
  readonly speech: Pick<GatewaySpeech, "hear" | "hearAnswered" | "speak">;
  readonly log: Log;
  readonly redact: (text: string) => string;
  readonly now: () => number;
}

export function createAgentSide(options: AgentSideOptions): AgentSide {
  const { config, accounts, optionsOf, turns, context, facts, log, now } = options;
  const { hear, hearAnswered, speak } = options.speech;
  return {
    hear,
    speak,
    maxConcurrent: () => config().agents.defaults.maxConcurrent,
    completeMedia: (inbound, at) =>
      // A command needs no files, and must not wait for those of the message it replies to.
      messageForModel(inbound, at.visit.get(usedCommand)) === undefined
        ? Promise.resolve(inbound)
        : turns.before({ ...at, event: inbound.id }, (signal) =>
            completeMedia(inbound, {
              account: accounts.get(inbound.channel, inbound.account),
              signal,
              describe: (image) => options.describe(image, askerOf(inbound, at.route), signal),
              onUnavailable({ kind }, error) {
                const { channel, account } = inbound;
                log.warn({ channel, account, kind, error: reasonOf(error) }, "a file could not be fetched");
              },
            }).then((found) => (found.replyTo?.media === undefined ? found : hearAnswered(found, at.route, signal))),
          ),
    guardStream: turns.guard,
    async waitForModel({ unitId, inbound, route, visit, reason, detail }) {
      const away = findCode(reason)?.away;
      const models = visit.get(askedModels);
      // A person who waits for a reply gets an apology at once.
      if (away === undefined || models === undefined || inbound.request === undefined) return undefined;
      const { patienceHours = defaultPatienceHours } = agentSettings(config(), knownAgentId(config(), route.agentId));
      const wait = await options.outages.wait({ eventId: unitId, models, away, detail, patienceHours });
      return wait && { detail: wait.detail, known: wait.known, wait };
    },
    async refusalFor(inbound, route) {
      const notice = await options.spending.tell(inbound, route);
      if (notice?.isShort !== true) return notice;
      const emoji = refusalReaction(config(), inbound, route, optionsOf(inbound));
      return { text: notice.text, emoji };
    },
    completeReply: (reply, route, closing) =>
      turns.after(route, closing, (signal) => options.files.complete(reply, route, signal)),
    keepGenerated: options.files.keep,
    ackReaction: (inbound, route) => acknowledgement(config(), inbound, route, optionsOf(inbound)),
    onAckRefused: createRefusedAcknowledgements({ config, optionsOf, pathsOf: options.gate.pathsOf, log }),
    // An isolated run has no history and is not continued; its summary contains what it said. Commands are between a
    // person and the gateway: a model must not read a pairing code or a configuration value.
    transcript({ visit, withContext, ...turn }) {
      const alone = turn.route.isolated || isDeliverOnly(turn.inbound) || turn.inbound.unreadable === true;
      const inbound = alone ? undefined : messageForModel(turn.inbound, visit.get(usedCommand));
      return inbound === undefined
        ? []
        : turnMessages({
            ...turn,
            inbound,
            tools: visit.get(toolCalls) ?? [],
            ...(withContext ? { context: context.of(visit) } : {}),
          });
    },
    readEarlierCalls: async ({ id }, visit) => void (await options.offered.callsOf(id, visit).notice()),
    asksPerson: options.offered.asksPerson,
    markRead(inbound, route, visit) {
      const read = context.markRead(inbound, route, visit);
      const reported = options.summaryNotes.markReported(route, visit);
      return read === undefined && reported === undefined ? undefined : Promise.all([read, reported]);
    },
    tookQueued: context.tookQueued,
    followUps: (end) => followUps(end, now()),
    asSent(reply, of, visit) {
      const { to } = of.route;
      return withPrefix(
        withQuietLine(reply, of, visit),
        to === null ? undefined : optionsOf(to)?.responsePrefix,
        { ...of, visit },
        facts,
      );
    },
    storedReply: (inbound, reply) =>
      config().hooks.exposeReplies || inbound.request?.keepReply === true
        ? storedReply(inbound, reply, options.redact)
        : undefined,
    silence: (reply, inbound) => {
      // The message with the button shows the answer.
      if (reply.text === "" && pressedCommand(inbound) !== undefined) return "approval_answered";
      if (reply.media.length > 0 || isDeliverOnly(inbound) || !mayBeSilent(reply.text)) return null;
      return silenceReason(reply.text, { ackMaxChars: ackMaxCharsFor(config(), inbound) });
    },
  };
}
