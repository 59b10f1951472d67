/** The moving parts of one gateway between its state and its doors: stations, agents, accounts, path. Made once, wired here. */
import { createGate, createPairing, placeSettings } from "../access/index.ts";
import { type ActionRunner, createActionRunner, createActionTools, createEnds } from "../actions/index.ts";
import {
  type AgentTurns,
  acknowledgement,
  agentFor,
  type Commands,
  commandIn as commandOf,
  createActivation,
  createAgentTurns,
  createDescribe,
  createFactsOfAnswers,
  createGroupContext,
  createRefusedAcknowledgements,
  createRouter,
  createSkills,
  createTurnContext,
  createWaitingEvents,
  followUps,
  groupHistoryLimit,
  historyLimit,
  mayCommand,
  messageForModel,
  movedSessions,
  type Router,
  reactionNotifications,
  resolveProviders,
  sessionKeyFor,
  turnMessages,
  unheardReaction,
  withPrefix,
} from "../agents/index.ts";
import { type Accounts, completeMedia, createAccounts, createMigrations, type Migrations, placePress } from "../channels/index.ts";
import { agentIds, agentSettings, defaultAgentId, type Environment, type GatewayConfig, type Secrets } from "../config/index.ts";
import { type Inbound, type Route, reasonOf } from "../contract/index.ts";
import { createRegistry, enginesOf, type Registry } from "../host/index.ts";
import type { Log } from "../log/index.ts";
import { requestPublic } from "../media/index.ts";
import { createPath, type Path } from "../path/index.ts";
import { mayBeSilent, showReasoning, silenceReason, speakable } from "../reply/index.ts";
import { createIds, type Store } from "../state/index.ts";
import { createHooks, type Hooks } from "../stations/index.ts";
import { keptReply } from "../webhooks/index.ts";
import { createChatCommands } from "./chat-commands.ts";
import { createOutboundFiles } from "./outbound-files.ts";
import { tapCore } from "./taps.ts";

/** A heartbeat's acknowledgement may have so many characters around it, unless the agent says otherwise. */
const ackMaxChars = 300;

export interface RuntimeOptions {
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  /** What `/config` edits. */
  readonly configFile: string;
  readonly environment: Environment;
  readonly stateDirectory: string;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly log: Log;
  /** Removes secrets by value, as the log does. */
  readonly redact: (text: string) => string;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly random: () => number;
}

export interface Runtime {
  readonly hooks: Hooks;
  readonly registry: Registry;
  readonly commands: Commands;
  readonly turns: AgentTurns;
  readonly router: Router;
  readonly accounts: Accounts;
  readonly migrations: Migrations;
  readonly path: Path;
  readonly actions: ActionRunner;
  readonly newId: () => string;
  readonly confirm: (url: string) => Promise<void>;
}

const isDeliverOnly = ({ request }: Inbound) => request?.deliverOnly === true;

export function createRuntime(options: RuntimeOptions): Runtime {
  const { config, store, log, now, secrets } = options;
  const newId = createIds(now);
  const registry = createRegistry();
  const hooks = createHooks({ onObserverError: (error, plugin) => log.error({ plugin, error: reasonOf(error) }, "an observer failed") });
  const pairing = createPairing({ store, now });
  const optionsOf = ({ channel, account }: Pick<Inbound, "channel" | "account">) => accounts.get(channel, account)?.options;
  const engines = enginesOf(registry);
  const providers = () =>
    resolveProviders(config(), secrets, (path, reason) => log.warn({ path }, `a model provider cannot be used: ${reason}`));
  const describe = createDescribe({ config, engines, providers, log });
  /** The text behind `/new` runs as a copy of its message; what the turn learns belongs to the message. */
  const messages = new WeakMap<Inbound, Inbound>();
  const eventOf = (inbound: Inbound): Inbound => messages.get(inbound) ?? inbound;
  const turns = createAgentTurns({
    config,
    store,
    engines,
    providers,
    capabilities: (channel) => registry.channels.get(channel)?.definition.capabilities,
    context: (inbound, route) => context.read(eventOf(inbound), route),
    place: (inbound) => {
      // Only groups and their topics have settings of their own.
      if (inbound.chat.kind === "direct") return undefined;
      const live = inbound.authority === "channel" ? accounts.get(inbound.channel, inbound.account) : undefined;
      return live && placeSettings(live.access, live.path, inbound.chat);
    },
    onTurn: (turn, route) => facts.note({ ...turn, inbound: eventOf(turn.inbound) }, route),
    historyLimit: (inbound) => historyLimit(inbound, optionsOf(inbound), config().hooks.historyLimit),
    tools: (inbound, route) => acting.tools(inbound, route),
    acting: (inbound, route) => acting.hint(inbound, route),
    skills: createSkills({ directory: options.configDirectory, log }),
    log,
    now,
  });
  const waitingEvents = createWaitingEvents({ store, now });
  const placed = (inbound: Inbound) => placePress(inbound, store.findSent);
  const responsePrefix = ({ to }: Route) => (to === null ? undefined : optionsOf(to)?.responsePrefix);
  const facts = createFactsOfAnswers({
    wanted: (route) => String(responsePrefix(route)).includes("{"),
    settings: (agentId) => agentSettings(config(), agentId),
  });
  const group = createGroupContext({
    store,
    parse: (event, gathered) => accounts.parse(event, gathered),
    limit: (inbound) => groupHistoryLimit(optionsOf(inbound), config().messages.groupChat.historyLimit),
    now,
  });
  const context = createTurnContext({ waiting: waitingEvents, group, store, now });
  const activation = createActivation();
  const gate = createGate({
    config,
    account: (channel, account) => accounts.get(channel, account),
    pairing,
    agentFor: (inbound) => agentFor(config(), inbound),
    activation: (inbound) => activation.of(sessionKeyFor({ agentId: agentFor(config(), inbound), inbound, ...config().session })),
    isControl: (inbound) => inbound.text.trimStart().startsWith("/") && commandIn(inbound)?.control === true,
    onInvalidPattern: (pattern, { path, reason }) => log.warn({ path, pattern }, `a mention pattern cannot be used: ${reason}`),
  });
  // Somebody who asked gets what stands beside the word; a heartbeat or a hook that says little more than the word says nothing.
  const ackMaxCharsFor = (inbound: Inbound) =>
    inbound.request === undefined ? 0 : (agentSettings(config(), agentFor(config(), inbound)).heartbeat.ackMaxChars ?? ackMaxChars);
  const commands = createChatCommands({
    config,
    configFile: options.configFile,
    environment: options.environment,
    store,
    registry,
    activation,
    accounts: () => accounts,
    engines,
    turns,
    isOwner: gate.isOwner,
    forget: ({ inbound, route }) => context.forget(inbound, route),
    waitsForSession: (lane) => path.waitsForSession(lane),
    now,
  });
  const commandIn = (inbound: Inbound) =>
    commandOf(commands, inbound, accounts.get(inbound.channel, inbound.account)?.status().identity?.username);
  const forModel = (inbound: Inbound) => messageForModel(inbound, commandIn(inbound));
  const router = createRouter({
    config,
    store,
    now,
    defaultAccount: (channel) => accounts.of(channel)[0]?.id,
    resolve: async (target, channel, account) => (await accounts.get(channel, account)?.connection.resolve?.(target)) ?? target,
    threads: (channel) => registry.channels.get(channel)?.definition.capabilities.threads === true,
  });
  const accounts: Accounts = createAccounts({
    channels: registry.channels,
    ...{ timed: hooks.timed, elapsed: options.elapsed, secrets },
    environment: options.environment,
    store,
    stateDirectory: options.stateDirectory,
    log,
    now,
    newId,
    receive: (event, { silent }) => path.receive(event, silent === undefined ? {} : { silent }),
    check: async (inbound) => gate.check(await placed(inbound)),
    trustedProxies: () => config().gateway.trustedProxies,
    debounceMs: () => config().messages.inbound.debounceMs,
    room: () => path.lanes.room(),
    isControlCommand: (said, live) => mayCommand(said) && commands.match(said.text, live.status().identity?.username)?.control === true,
    commands: () => commands.menu(),
  });
  const completeFiles = createOutboundFiles({ ...options, optionsOf });
  const path: Path = createPath({
    hooks,
    store,
    log,
    now,
    newId,
    random: options.random,
    maxConcurrent: () => config().agents.defaults.maxConcurrent,
    account: (channel, account) => accounts.get(channel, account),
    contact: (channel, account) => accounts.contact(channel, account),
    expects: (channel, account) => accounts.expects(channel, account),
    redact: options.redact,
    passedBy: (inbound) => gate.passedBy(inbound),
    pathsOf: (at) => gate.pathsOf(at),
    fallbackRoute: (inbound) => router.route(inbound),
    completeMedia: (inbound, route, closing) =>
      // A command looks at no file, and must not wait for that of the message that it answers.
      forModel(inbound) === undefined
        ? Promise.resolve(inbound)
        : turns.before(route, closing, (signal) =>
            completeMedia(inbound, {
              account: accounts.get(inbound.channel, inbound.account),
              signal,
              describe: (image) => describe(image, route, signal),
              onUnavailable({ kind }, error) {
                const { channel, account } = inbound;
                log.warn({ channel, account, kind, error: reasonOf(error) }, "a file could not be fetched");
              },
            }),
          ),
    guardStream: (source, closing) => turns.guard(source, closing),
    completeReply: (reply, route, closing) => turns.after(route, closing, (signal) => completeFiles(reply, route, signal)),
    ackReaction: (inbound, route) => acknowledgement(config(), inbound, route, accounts.get(inbound.channel, inbound.account)?.options),
    // An isolated run begins with nothing and nobody goes on with it: what it said stands in the summary. Commands are between
    // a person and the gateway: a code or a value of the configuration is nothing for a model.
    transcript(turn) {
      const inbound = turn.route.isolated || isDeliverOnly(turn.inbound) ? undefined : forModel(turn.inbound);
      return inbound === undefined ? [] : turnMessages({ ...turn, inbound, context: context.of(turn.inbound) });
    },
    asSent: (reply, of) => withPrefix(reply, responsePrefix(of.route), of, facts),
    onAckRefused: createRefusedAcknowledgements({ config, optionsOf, pathsOf: gate.pathsOf, log }),
    told: (inbound, route) => context.told(inbound, route),
    tookQueued: (inbound) => context.tookQueued(inbound),
    followUps: (end) => followUps(end, now()),
    keptReply: (inbound, reply) => (config().hooks.exposeReplies ? keptReply(inbound, reply, options.redact) : undefined),
    silence: (reply, inbound) =>
      reply.media.length > 0 || isDeliverOnly(inbound) || !mayBeSilent(reply.text)
        ? null
        : silenceReason(reply.text, { ackMaxChars: ackMaxCharsFor(inbound) }),
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
    store,
    log,
    now,
    config,
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
  tapCore(hooks, {
    asCopy: (copy, message) => messages.set(copy, message),
    accounts,
    migrations,
    gate,
    commands,
    commandIn,
    turns,
    placed,
    waitingEvents,
    unheard: (inbound) =>
      inbound.kind === "reaction"
        ? unheardReaction(inbound, {
            notifications: reactionNotifications(optionsOf(inbound)),
            path: gate.pathsOf(inbound)(["reactionNotifications"]),
            findSent: store.findSent,
          })
        : undefined,
    heartbeat: () => ({ config: config(), directory: options.configDirectory }),
    defaultAgent: () => defaultAgentId(config()),
    speakable: (reply, inbound) => (mayBeSilent(reply.text) ? speakable(reply, { ackMaxChars: ackMaxCharsFor(inbound) }) : reply),
    showReasoning: (reply, { inbound, route }) =>
      reply.reasoning === undefined ? undefined : showReasoning(reply, route, { store, ackMaxChars: ackMaxCharsFor(inbound) }),
  });
  return { hooks, registry, commands, turns, router, accounts, migrations, path, actions, newId, confirm: (url) => requestPublic(url) };
}
