/** The moving parts of one gateway, created once and wired here: stations, agents, accounts, path. */
import {
  createBotTurns,
  createGate,
  createIdentityLinks,
  createLinkRequests,
  createPairing,
  createStrangerIds,
  type IdentityLinks,
} from "../access/index.ts";
import {
  type ActionRunner,
  createActionRunner,
  createActionTools,
  createEnds,
  createReplyTools,
} from "../actions/index.ts";
import {
  type Activation,
  type AgentTurns,
  agentFor,
  type Commands,
  type Compactions,
  commandIn as commandOf,
  commandTextOf,
  createActivation,
  createFactsOfAnswers,
  createGroupContext,
  createModelOutages,
  createOfferedTools,
  createRouter,
  createSpending,
  createTurnContext,
  createWaitingEvents,
  groupHistoryLimit,
  type ModelOutages,
  type ModelStandings,
  movedSessions,
  type RefusedTools,
  type Router,
  type RunningOnNodes,
  resolveProviders,
  type Spending,
  type StopsOnNodes,
  sessionKeyFor,
  type TestModel,
} from "../agents/index.ts";
import {
  type Accounts,
  createAccounts,
  createMigrations,
  createOwnMessages,
  type Deletions,
  type Migrations,
  placePress,
} from "../channels/index.ts";
import { agentIds, agentSettings } from "../config/index.ts";
import { type Inbound, reasonOf } from "../contract/index.ts";
import { createRegistry, enginesOf, noticeEvent, type Registry, whenKnown } from "../host/index.ts";
import { requestPublic } from "../media/index.ts";
import { createPath, type Path } from "../path/index.ts";
import { createIds, type Unit } from "../state/index.ts";
import { createHooks, type Hooks, type Visit } from "../stations/index.ts";
import { createAgentSide } from "./agents/agent-side.ts";
import { createGatewayApprovals } from "./agents/approvals.ts";
import { createChatCommands } from "./agents/chat-commands.ts";
import { createGroupSilence } from "./agents/group-silence.ts";
import { createLateReports } from "./agents/late-reports.ts";
import { createOutboundFiles } from "./agents/outbound-files.ts";
import { createOwnerNotices, type OwnerNotices } from "./agents/owner-notices.ts";
import { createOwnerReach } from "./agents/owner-reach.ts";
import { createGatewaySpeech, type GatewaySpeech } from "./agents/speech.ts";
import { createTurns } from "./agents/turns.ts";
import { createWriterChanges } from "./agents/writer-changes.ts";
import type { Base } from "./base.ts";
import { tapCore } from "./taps/core-taps.ts";

export interface Runtime {
  readonly hooks: Hooks;
  readonly registry: Registry;
  readonly commands: Commands;
  readonly turns: AgentTurns;
  readonly stops: StopsOnNodes;
  readonly running: RunningOnNodes;
  readonly activation: Activation;
  readonly router: Router;
  readonly accounts: Accounts;
  readonly migrations: Migrations;
  readonly deletions: Deletions;
  readonly path: Path;
  readonly actions: ActionRunner;
  readonly spending: Spending;
  readonly owner: OwnerNotices;
  readonly speech: Pick<GatewaySpeech, "close">;
  readonly standings: ModelStandings;
  readonly testModel: TestModel;
  readonly refusedTools: Pick<RefusedTools, "all">;
  readonly outages: ModelOutages;
  readonly compactions: Compactions;
  readonly approvals: ReturnType<typeof createGatewayApprovals>;
  readonly links: Pick<IdentityLinks, "load">;
  readonly newId: () => string;
  readonly confirm: (url: string) => Promise<void>;
}

export function createRuntime(options: Omit<Base, "cleanup">, onBegin: (unit: Unit) => void): Runtime {
  const { config, store, log, now, secrets } = options;
  const newId = createIds(now);
  const registry = createRegistry();
  const hooks = createHooks({
    onObserverError: (error, plugin) => log.error({ plugin, error: reasonOf(error) }, "an observer failed"),
  });
  const pairing = createPairing({ store, now });
  const links = createIdentityLinks({ config, store });
  const optionsOf = ({ channel, account }: Pick<Inbound, "channel" | "account">) =>
    accounts.get(channel, account)?.options;
  const engines = enginesOf(registry);
  const files = createOutboundFiles({ ...options, optionsOf });
  const replyTools = createReplyTools({
    account: (channel, account) => accounts.get(channel, account),
    complete: files.complete,
  });
  const receive: Path["receive"] = (event, how) => path.receive(event, how);
  const capabilities: Accounts["capabilities"] = (at) => accounts.capabilities(at);
  const later = { gate: () => gate, accounts: () => accounts, router: () => router };
  const reach = createOwnerReach({ config, store, pairing, log, ...later });
  const approvals = createGatewayApprovals({ ...{ store, receive, capabilities, log, now, reach }, ...later });
  const owner = createOwnerNotices({ ...{ config, reach, receive, log }, ...later });
  const spending = createSpending({ config, store, log, now, newId, notifyOwner: owner.notify });
  const offered = createOfferedTools({ registry, config, approvals, store, log, now });
  const lookAgain = () => path.lanes.lookAgain();
  const outages = createModelOutages({ store, log, now, notifyOwner: owner.notify, onAnswer: lookAgain });
  const ofTurns = createTurns(options, {
    ...{ engines, capabilities, spending, newId },
    account: (channel, account) => accounts.get(channel, account),
    context: (...at) => context.read(...at),
    ...{ onTurn: (turn, visit) => facts.note(turn, visit), onAnswer: outages.answered, areAway: outages.areAway },
    tools: (...at) => [...acting.tools(...at), ...replyTools(...at)],
    offered,
    acting: (inbound, route) => acting.hint(inbound, route),
  });
  const { turns, stops, running, describe, standings, testModel, contexts, compactions, summaryNotes } = ofTurns;
  const waitingEvents = createWaitingEvents({ store, now });
  const { messages, deletions, edits } = createWriterChanges({
    ...{ ...options, waitingEvents },
    sessionOf: (inbound) => sessionOf(inbound),
    parts: () => ({ accounts, turns, speech }),
  });
  const sessionOf = (inbound: Inbound) =>
    sessionKeyFor({
      ...{ agentId: agentFor(config(), inbound), inbound, dmScope: config().session.dmScope },
      person: links.personOf(inbound)?.name,
    });
  const placed = (inbound: Inbound) => placePress(inbound, store.findSent);
  const facts = createFactsOfAnswers({ settings: (agentId) => agentSettings(config(), agentId) });
  const group = createGroupContext({
    store,
    parse: (event, gathered) => whenKnown(accounts.parse(event, gathered), speech.recall),
    limit: (inbound) => groupHistoryLimit(optionsOf(inbound), config().messages.groupChat.historyLimit),
    now,
  });
  const context = createTurnContext({ waiting: waitingEvents, group, store, now, log });
  const activation = createActivation(store);
  const gate = createGate({
    config,
    account: (channel, account) => accounts.get(channel, account),
    pairing,
    sentByAccount: createOwnMessages({ store, accounts: () => accounts }),
    agentFor: (inbound) => agentFor(config(), inbound),
    activation: (inbound) => activation.of(sessionOf(inbound)),
    isControl: (inbound) => inbound.text.trimStart().startsWith("/") && commandIn(inbound)?.control === true,
    onInvalidPattern: (pattern, { path, reason }) =>
      log.warn({ path, pattern }, `a mention pattern cannot be used: ${reason}`),
  });
  const commands = createChatCommands({
    config,
    configFile: options.configFile,
    environment: options.environment,
    ...{ store, registry, activation, standings, contexts, compactions, turns, approvals, spending },
    accounts: () => accounts,
    ...{ stopElsewhere: stops.tell, runningNow: running.now },
    isOwner: gate.isOwner,
    forget: ({ inbound, route }) => context.forget(inbound, route),
    linking: {
      ...{ links, requests: createLinkRequests({ store, now }), isOwner: gate.isOwner, owners: gate.owners },
      notifyOwner: owner.notify,
      notify: (address, text) => receive(noticeEvent({ address, text })),
      isWeak: ({ channel, account, id }) => accounts.get(channel, account)?.identity.isWeak(id) ?? true,
    },
    waitsForSession: (lane) => path.waitsForSession(lane),
    now,
  });
  const speech = createGatewaySpeech({
    ...{ config, engines, spending, store, log, now, sessionOf },
    providers: (models) => resolveProviders(config(), { secrets, models }, () => {}),
    stateDirectory: options.stateDirectory,
    notifyOwner: owner.notify,
    parts: () => ({ accounts, gate, router, turns, runningNow: running.now, commands, commandIn }),
  });
  const commandIn = (inbound: Inbound, visit?: Visit) =>
    commandOf(commands, inbound, accounts.get(inbound.channel, inbound.account)?.status().identity?.username, visit);
  const router = createRouter({
    ...{ config, store, now },
    defaultAccount: (channel) => accounts.of(channel)[0]?.id,
    resolve: async (target, channel, account) =>
      (await accounts.get(channel, account)?.connection.resolve?.(target)) ?? target,
    admits: (recipient, senderId) => gate.admits(recipient, senderId),
    isKnown: (channel) => registry.channels.has(channel) || Object.hasOwn(config().channels, channel),
    // As long as the account is not open, its channel may have topics.
    topics: (at) => (registry.channels.has(at.channel) ? (capabilities(at) ?? { threads: true }) : {}),
    ...{ onRecipient: reach.wrote, links },
  });
  const accounts: Accounts = createAccounts({
    channels: registry.channels,
    ...{ timed: hooks.timed, elapsed: options.elapsed, secrets },
    environment: options.environment,
    stateDirectory: options.stateDirectory,
    ...{ store, log, now, newId },
    receive: (event, { silent }) => path.receive(event, silent === undefined ? {} : { silent }),
    reportSent: createLateReports({ store, log, now, receive }),
    ...{ onEdit: messages.edit, onFiles: speech.accepted },
    async check(inbound) {
      const found = await placed(inbound);
      const command = found.kind === "press" ? commandIn(found) : undefined;
      return (await gate.check(found)) ?? (command === undefined ? undefined : await gate.checkCommand(found, command));
    },
    trustedProxies: () => config().gateway.trustedProxies,
    debounceMs: () => config().messages.inbound.debounceMs,
    ...{ room: () => path.lanes.room(), onOpened: lookAgain },
    isControlCommand: (message, live) =>
      commands.match(commandTextOf(message) ?? "", live.status().identity?.username)?.control === true,
    commands: () => commands.menu(),
  });
  const path: Path = createPath({
    ...{ hooks, store, accounts, gate, deletions, stateDirectory: options.stateDirectory },
    reports: { log, redact: options.redact, onBegin },
    clock: { now, newId, random: options.random },
    agents: createAgentSide({
      ...{ config, accounts, optionsOf, gate, turns, offered, context, facts, describe, files, spending },
      ...{ outages, summaryNotes, speech, log, now, redact: options.redact },
    }),
  });
  const actions = createActionRunner({
    account: (channel, account) => accounts.get(channel, account),
    accountsOf: (channel) => accounts.of(channel),
    pathsOf: (at) => gate.pathsOf(at),
    isPaired: (channel, account, id) => pairing.isPaired(channel, account, id),
    receive: (event) => path.receive(event),
    ends: createEnds({ hooks, store }),
    event: (id) => store.event(id),
    sentBy: (unitId) => store.sentBy(unitId),
    random: options.random,
  });
  const acting = createActionTools({ runner: actions, account: (channel, account) => accounts.get(channel, account) });
  const migrations = createMigrations({
    ...{ store, log, now, config },
    configFile: options.configFile,
    environment: options.environment,
    account: (channel, account) => accounts.get(channel, account),
    sessionsOf: (move, knownKeys) => movedSessions(move, { agentIds: agentIds(config()), knownKeys }),
    onMoved({ from, to }) {
      activation.move(from, to);
      return Promise.all([waitingEvents.move(from, to), group.move(from, to)]);
    },
    rescan: () => path.lanes.rescan(),
  });
  const access = ({ channel, account }: Pick<Inbound, "channel" | "account">) => accounts.get(channel, account)?.access;
  const botTurns = createBotTurns({ store, now, access, pathsOf: gate.pathsOf });
  const strangerIds = createStrangerIds({ now });
  const explainSilence = createGroupSilence({ gate, receive, log });
  const parts = {
    config,
    configDirectory: options.configDirectory,
    registry,
    store,
    accounts,
    ...{ migrations, deletions, edits },
    botTurns,
    strangerIds,
  };
  tapCore(hooks, {
    ...parts,
    log,
    gate,
    offered,
    compactions,
    commands,
    commandIn,
    router,
    turns,
    placed,
    waitingEvents,
    explainSilence,
    speech,
  });
  const confirm = (url: string) => requestPublic(url);
  const ofModels = { standings, testModel, outages, compactions, refusedTools: offered.refused };
  const ofAgents = {
    owner,
    speech,
    commands,
    turns,
    stops,
    running,
    ...ofModels,
    activation,
    router,
    spending,
    approvals,
    links,
  };
  return { hooks, registry, ...ofAgents, accounts, migrations, deletions, path, actions, newId, confirm };
}
