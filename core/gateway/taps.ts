/** The core's own taps: what it contributes to its stations, in path order. */
import type { Gate } from "../access/index.ts";
import { tapSaid } from "../actions/index.ts";
import {
  type AgentTurns,
  type CommandMatch,
  type Commands,
  firstMessage,
  parseHeartbeat,
  reactionNotifications,
  unheardReaction,
  usedCommand,
  type WaitingEvents,
} from "../agents/index.ts";
import type { Accounts, Migrations } from "../channels/index.ts";
import { defaultAgentId, type GatewayConfig } from "../config/index.ts";
import { ChannelError, type Inbound, type Part, type Refusal, type Silent, type TurnEvent } from "../contract/index.ts";
import { pluginDeadlines } from "../host/index.ts";
import { Postponed } from "../path/index.ts";
import { applyReplyTags, mayBeSilent, showReasoning, speakable } from "../reply/index.ts";
import type { Store } from "../state/index.ts";
import type { Hooks } from "../stations/index.ts";
import { parseHookEvent } from "../webhooks/index.ts";
import { ackMaxCharsFor } from "./agent-side.ts";

/** A channel has a deadline for each send, and a chat that has moved is sent to twice. */
const deliveryMs = 2 * pluginDeadlines.send + 10_000;

export interface CoreTapsOptions {
  readonly accounts: Accounts;
  readonly migrations: Migrations;
  /** With what the platform left out of its place. */
  readonly placed: (inbound: Inbound) => Inbound | Promise<Inbound>;
  readonly gate: Gate;
  readonly commands: Pick<Commands, "run">;
  readonly commandIn: (inbound: Inbound) => CommandMatch | undefined;
  readonly turns: AgentTurns;
  readonly waitingEvents: Pick<WaitingEvents, "add">;
  readonly config: () => GatewayConfig;
  readonly configDirectory: string;
  readonly store: Store;
}

/** What has nothing to wait for answers at once: a promise costs its deadline's timer, and a message passes them all. */
export function tapCore(hooks: Hooks, options: CoreTapsOptions): void {
  const { accounts, migrations, gate, commands, turns, config, store } = options;

  tapSaid(hooks, () => defaultAgentId(config()));
  hooks.tap("core", "ingress", (_event, gathered) => parseHeartbeat(gathered, { config: config(), directory: options.configDirectory }));
  hooks.tap("core", "ingress", (event) => (event.source === "hooks" ? parseHookEvent(event) : undefined));
  hooks.tap("core", "ingress", (event, gathered) => {
    if (event.authority !== "channel") return undefined;
    const account = event.account ?? "";
    if (accounts.expects(event.source, account)) throw notOpen(event.source, account);
    const parsed = accounts.parse(event, gathered);
    if (parsed === null || parsed === undefined || "silent" in parsed) return parsed;
    const placed = options.placed(parsed);
    return placed instanceof Promise
      ? placed.then(async (found): Promise<Inbound | Silent> => migrations.follow(found))
      : migrations.follow(placed);
  });

  hooks.tap(
    "core",
    "gating",
    (inbound, visit) => {
      const follow = (refused: Refusal | undefined) => {
        if (refused !== undefined) return gate.offer(inbound, refused);
        const command = options.commandIn(inbound);
        if (command === undefined) return undefined;
        visit.set(usedCommand, command);
        return gate.checkCommand(inbound, command);
      };
      const checked = gate.check(inbound, visit);
      return checked instanceof Promise ? checked.then(follow) : follow(checked);
    },
    { order: "early" },
  );

  hooks.tap(
    "core",
    "turn",
    (inbound, route, signal, visit) => {
      const command = visit.get(usedCommand);
      if (command === undefined) return undefined;
      const first = firstMessage(inbound, command);
      const answer = commands.run({ name: command.name, args: command.args, inbound, route });
      return first === undefined ? say(answer) : answer.then(() => turns.turn(first, route, signal, visit));
    },
    { order: "early" },
  );
  hooks.tap("core", "turn", (inbound) => (inbound.request?.deliverOnly === true ? say(inbound.text) : undefined), { order: "early" });
  // An agent does not hear of every reaction.
  hooks.tap(
    "core",
    "gating",
    (inbound) =>
      inbound.kind === "reaction"
        ? unheardReaction(inbound, {
            notifications: reactionNotifications(accounts.get(inbound.channel, inbound.account)?.options),
            path: gate.pathsOf(inbound)(["reactionNotifications"]),
            findSent: store.findSent,
          })
        : undefined,
    { order: "early" },
  );
  // A reaction is not answered: the next turn of its session mentions it.
  hooks.tap(
    "core",
    "turn",
    ({ id, kind, text, timestamp, sender }, route) => {
      if (kind !== "reaction") return undefined;
      return options.waitingEvents
        .add(route.sessionKey, { id, at: timestamp, text, senderId: sender.id })
        .then(() => ({ silent: "reaction_noted", detail: "The next turn of this conversation mentions it." }));
    },
    { order: "early" },
  );
  hooks.tap("core", "turn", (inbound, route, signal, visit) => turns.turn(inbound, route, signal, visit), { order: "late" });

  hooks.tap(
    "core",
    "formatting",
    (reply, { inbound }) => {
      if (inbound.request?.deliverOnly === true) return undefined;
      const said = applyReplyTags(reply, inbound);
      // Without the words that are for the gateway only.
      return mayBeSilent(said.text) ? speakable(said, { ackMaxChars: ackMaxCharsFor(config(), inbound) }) : said;
    },
    { order: "early" },
  );
  hooks.tap(
    "core",
    "formatting",
    (reply, { inbound, route }) =>
      reply.reasoning === undefined ? undefined : showReasoning(reply, route, { store, ackMaxChars: ackMaxCharsFor(config(), inbound) }),
    { order: "early" },
  );

  hooks.tap(
    "core",
    "delivery",
    (part, written, signal) => {
      const address = migrations.current(written);
      const live = accounts.get(address.channel, address.account);
      if (live === undefined) {
        const retryable = accounts.expects(address.channel, address.account);
        const detail = `${address.channel}:${address.account} is not ${retryable ? "open" : "configured"}`;
        throw new ChannelError(retryable ? "account_not_open" : "no_channel", { retryable, detail });
      }
      const { connection } = live;
      const follow = async (error: unknown) => {
        const to = error instanceof ChannelError ? error.migratedTo : undefined;
        if (to === undefined || to === address.chat) throw error;
        await migrations.move({ channel: address.channel, account: address.account, from: address.chat, to });
        return await connection.send(unattached(part), { ...address, chat: to }, signal);
      };
      return connection.send(address === written ? part : unattached(part), address, signal).catch(follow);
    },
    { order: "late", deadlineMs: deliveryMs },
  );
}

/** In a chat with a new id, messages get new numbers: the message to replace or to reply to would be a different one there. */
function unattached({ replaces: _replaced, replyTo: _answered, ...part }: Part): Part {
  return part;
}

/** What waits for an account goes on waiting until its configuration is mended. */
function notOpen(channel: string, account: string): Postponed {
  return new Postponed("account_not_open", { detail: `${channel}:${account} is configured, but not open`, path: `channels.${channel}` });
}

async function* say(text: string | Promise<string>): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: await text };
  yield { type: "done" };
}
