/**
 * Replies in place of the model if there is a command, a text to deliver or a reaction to note; otherwise the agent
 * takes its turn.
 */
import {
  type AgentTurns,
  type CommandReply,
  type Commands,
  deliveredAlready,
  editedText,
  firstMessage,
  usedCommand,
  type WaitingEvents,
} from "../../agents/index.ts";
import type { Accounts, Edits } from "../../channels/index.ts";
import type { Inbound, Route, Silent, TurnEvent } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { type Hooks, replyAdditions } from "../../stations/index.ts";
import type { GatewaySpeech } from "../agents/speech.ts";

/** A message of a kind that the platform has added since: silence would look like a fault. */
const unreadable = "I cannot read this kind of message. Please send text, a file or a location.";

export function tapTurn(
  hooks: Hooks,
  options: {
    readonly commands: Pick<Commands, "run">;
    readonly turns: Pick<AgentTurns, "turn">;
    readonly waitingEvents: Pick<WaitingEvents, "add">;
    readonly store: Pick<Store, "event">;
    readonly speech: Pick<GatewaySpeech, "unheard">;
    readonly accounts: Pick<Accounts, "get">;
    readonly edits: Pick<Edits, "asks">;
  },
): void {
  const { commands, turns } = options;
  hooks.tap(
    "core",
    "turn",
    (inbound, route, signal, visit) => {
      const command = visit.get(usedCommand);
      if (command === undefined) return undefined;
      const first = firstMessage(inbound, command);
      // In a group it would be read by everyone, of whom one has asked. What changes for all is for all to see.
      if (first === undefined && command.forGroup !== true) visit.set(replyAdditions, { files: [], to: "sender" });
      const answer = commands.run({ name: command.name, args: command.args, inbound, route }, visit);
      const write = route.to && options.accounts.get(route.to.channel, route.to.account)?.writeCommands;
      return first === undefined
        ? reply(answer, write ?? undefined)
        : answer.then(() => turns.turn(first, route, signal, visit));
    },
    { order: "early" },
  );
  hooks.tap("core", "turn", (inbound) => (inbound.request?.deliverOnly === true ? say(inbound.text) : undefined), {
    order: "early",
  });
  hooks.tap("core", "turn", (inbound) => (inbound.unreadable === true ? say(unreadable) : undefined), {
    order: "early",
  });
  hooks.tap(
    "core",
    "turn",
    (inbound, route, _signal, visit) =>
      options.speech.unheard(inbound, route, visit)?.then((text) => (text === undefined ? undefined : say(text))),
    { order: "early" },
  );
  hooks.tap("core", "turn", (_inbound, route, _signal, visit) => deliveredAlready(visit, route, options.store), {
    order: "early",
  });
  // A reaction gets no reply: the next turn of its session mentions it.
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
  // So does an edit that asks nothing.
  hooks.tap(
    "core",
    "turn",
    (inbound, route) => (inbound.kind === "edit" ? noteEdit(inbound, route, options) : undefined),
    { order: "early" },
  );
  hooks.tap("core", "turn", (inbound, route, signal, visit) => turns.turn(inbound, route, signal, visit), {
    order: "late",
  });
}

async function noteEdit(
  inbound: Inbound,
  { sessionKey }: Route,
  { edits, waitingEvents }: { readonly edits: Pick<Edits, "asks">; readonly waitingEvents: Pick<WaitingEvents, "add"> },
): Promise<Silent | undefined> {
  const { id, text, timestamp, sender, messageId = "" } = inbound;
  if (await edits.asks(inbound)) return undefined;
  const noted = `${editedText(messageId)} ${text}`;
  await waitingEvents.add(sessionKey, { id, at: timestamp, text: noted, senderId: sender.id });
  return {
    silent: "edit_noted",
    detail: "The next turn of this conversation mentions it.",
    option: ["editedMessages"],
  };
}

async function* say(text: string): AsyncGenerator<TurnEvent> {
  yield { type: "text", delta: text };
  yield { type: "done" };
}

/** `write`: names commands as people type them where the reply goes. */
async function* reply(
  answer: Promise<CommandReply>,
  write = (text: string): string => text,
): AsyncGenerator<TurnEvent> {
  const { text, buttons = [] } = await answer;
  yield { type: "text", delta: write(text) };
  if (buttons.length > 0) yield { type: "buttons", buttons };
  yield { type: "done" };
}
