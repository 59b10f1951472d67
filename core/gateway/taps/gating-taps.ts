/** Decides who is admitted, and which command a message is. */
import type { BotTurns, Gate, StrangerIds } from "../../access/index.ts";
import { type CommandMatch, reactionNotifications, unheardReaction, usedCommand } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import type { Inbound, Refusal } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { Hooks, Visit } from "../../stations/index.ts";

export function tapGating(
  hooks: Hooks,
  options: {
    readonly gate: Gate;
    readonly botTurns: BotTurns;
    readonly strangerIds: StrangerIds;
    /** Called for each message that the access rules refuse. */
    readonly explainSilence: (inbound: Inbound, refused: Refusal) => void;
    readonly commandIn: (inbound: Inbound, visit: Visit) => CommandMatch | undefined;
    readonly accounts: Pick<Accounts, "get">;
    readonly store: Pick<Store, "findSent">;
  },
): void {
  const { gate, botTurns, strangerIds, accounts, store } = options;
  const refuse = (inbound: Inbound, visit: Visit, refused: Refusal) => {
    options.explainSilence(inbound, refused);
    const withId = options.commandIn(inbound, visit)?.name === "whoami" ? strangerIds(inbound, refused) : undefined;
    return withId ?? gate.offer(inbound, refused);
  };
  hooks.tap(
    "core",
    "gating",
    (inbound, visit) => {
      const follow = (refused: Refusal | undefined) => {
        const counting = botTurns.count(inbound, refused !== undefined);
        return counting === undefined ? decide(refused) : counting.then((used) => decide(refused ?? used));
      };
      const decide = (refused: Refusal | undefined) => {
        if (refused !== undefined) return refuse(inbound, visit, refused);
        const command = options.commandIn(inbound, visit);
        if (command === undefined) return undefined;
        visit.set(usedCommand, command);
        return gate.checkCommand(inbound, command);
      };
      const checked = gate.check(inbound, visit);
      return checked instanceof Promise ? checked.then(follow) : follow(checked);
    },
    { order: "early" },
  );
  // An agent is not notified of every reaction.
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
}
