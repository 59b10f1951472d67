/** Everything the checks need, gathered once and without changing anything. */
import { botsSeenNamespace, type SeenBots } from "../../access/bot-turns.ts";
import { type OwnerChat, ownerChats } from "../../access/owner-places.ts";
import { createPairing, type PairedSender } from "../../access/pairing.ts";
import { mainSessionKey } from "../../agents/conversation/sessions.ts";
import { speechAway, unheardPeople } from "../../agents/conversation/sounds.ts";
import { type BackupRecord, readRecord } from "../../backups/record.ts";
import type { ProbeReport } from "../../channels/connection/probe.ts";
import { agentIds } from "../../config/agents.ts";
import { type LoadedConfig, withSchemas } from "../../config/reading/load.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import type { Address } from "../../contract/types.ts";
import type { GatewayDescription } from "../../gateway/gateway.ts";
import { type BudgetRow, readBudgets } from "../../reports/budgets.ts";
import { type Waits, waitsIn } from "../../reports/waits.ts";
import type { StatePlace } from "../../stores/place.ts";
import { type ConfiguredAccount, configuredAccounts, probeAccounts } from "../accounts.ts";
import type { CommandContext } from "../context.ts";
import { type Declared, declaredSchemas, readDeclarations } from "../plugins/declarations.ts";
import { isStateForbidden, type RunningGateway } from "../running-gateway.ts";

export interface CheckInput {
  readonly context: CommandContext;
  readonly loaded: LoadedConfig;
  readonly stateDirectory: string;
  readonly place: StatePlace;
  readonly declared: readonly Declared[];
  readonly accounts: readonly ConfiguredAccount[];
  readonly probes: readonly ProbeReport[];
  /** `null`: no gateway is running on this state. */
  readonly gateway: RunningGateway | null;
  readonly description: GatewayDescription | null;
  /** `undefined`: no gateway has ever run here. An error says why the state cannot be read. */
  readonly state: StateView | HostError | undefined;
}

export interface StateView {
  /** How long it took to open the state, in milliseconds. */
  readonly openedMs: number;
  /** Senders approved by pairing, by channel. */
  readonly paired: ReadonlyMap<string, readonly PairedSender[]>;
  /** Whom pairing made an owner. */
  readonly owners: readonly Pick<Address, "channel" | "account" | "chat">[];
  /** Where the last direct message to each agent came from. */
  readonly lastRecipients: readonly Address[];
  /** The direct chats of owners, by channel and id. */
  readonly ownerChats: ReadonlyMap<string, OwnerChat>;
  /** Open groups in which other bots have written. */
  readonly botsSeen: readonly SeenBots[];
  /** Lanes with waiting work. */
  readonly lanes: readonly string[];
  /** What events wait for, besides their turn. */
  readonly waits: readonly Waits[];
  /** What is known of the backups of `state.backup`. */
  readonly backup: BackupRecord | undefined;
  /** How much is used of the limits. */
  readonly budgets: readonly BudgetRow[];
  readonly speech: {
    /** What transcribes or speaks and does not answer, with the time of the first failure. */
    readonly away: readonly { readonly name: string; readonly since: number }[];
    /** How many people have sent voice messages that nothing transcribes. */
    readonly unheard: number;
  };
}

export async function gather(context: CommandContext, read: LoadedConfig): Promise<CheckInput> {
  const stateDirectory = await context.stateDirectory();
  const declared = await readDeclarations(read, stateDirectory, context.terminal);
  const loaded = withSchemas(read, declaredSchemas(declared));
  const accounts = await configuredAccounts(loaded, declared, context.env);
  const gateway = await context.gateway().catch(nullIfForbidden);
  const [description, probes, state] = await Promise.all([
    gateway?.describe() ?? null,
    probeAccounts({ ...context, gateway: async () => gateway }, accounts, { names: true }),
    readState(context, loaded, accounts),
  ]);
  return {
    context,
    loaded,
    stateDirectory,
    place: await context.place(),
    declared,
    accounts,
    probes,
    gateway,
    description: description as GatewayDescription | null,
    state,
  };
}

/** The check of the state reports it. */
function nullIfForbidden(error: unknown): null {
  if (isStateForbidden(error)) return null;
  throw error;
}

async function readState(
  context: CommandContext,
  { config }: LoadedConfig,
  accounts: readonly ConfiguredAccount[],
): Promise<CheckInput["state"]> {
  const channels = [...new Set(accounts.map(({ channel }) => channel))];
  try {
    if (!(await context.hasState())) return undefined;
    const began = performance.now();
    const store = await context.openState();
    const openedMs = performance.now() - began;
    try {
      const pairing = createPairing({ store, now: context.now });
      const paired = await Promise.all(
        channels.map(async (channel) => [channel, await pairing.paired(channel)] as const),
      );
      const made = accounts.map(async ({ channel, account }) =>
        (await pairing.owners(channel, account)).map((chat) => ({ channel, account, chat })),
      );
      const owners = (await Promise.all(made)).flat();
      const sessions = await Promise.all(agentIds(config).map((id) => store.session(mainSessionKey(id))));
      const lastRecipients = sessions.flatMap((session) => session?.lastRecipient ?? []);
      const chats = (await store.list(ownerChats)).map(
        ({ key, value }) => [key, value as unknown as OwnerChat] as const,
      );
      const people = { paired: new Map(paired), owners, lastRecipients, ownerChats: new Map(chats) };
      const botsSeen = (await store.list(botsSeenNamespace)).map(({ value }) => value as unknown as SeenBots);
      const lanes = (await store.waitingLanes()).map(({ lane }) => lane);
      const budgets = await readBudgets(store, config, context.now());
      const away = (await store.list(speechAway)).map(({ key: name, value }) => ({ name, since: Number(value) }));
      const speech = { away, unheard: (await store.list(unheardPeople)).length };
      const backup = await readRecord(store);
      return { openedMs, backup, ...people, botsSeen, lanes, waits: await waitsIn(store), budgets, speech };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof HostError) return error;
    return new HostError("state_unreadable", { directory: await context.stateDirectory(), reason: reasonOf(error) });
  }
}
