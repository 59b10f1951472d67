/** The turns of one gateway's agents, and what else calls their models. */
import { placeSettings } from "../../access/index.ts";
import {
  type AgentTurns,
  type AgentTurnsOptions,
  type Compactions,
  type ContextStandings,
  createAgentTurns,
  createCompactions,
  createContextStandings,
  createDescribe,
  createFixedTexts,
  createModelRooms,
  createModelStandings,
  createModelTest,
  createRunningOnNodes,
  createSkills,
  createStopsOnNodes,
  createSummaryNotes,
  historyLimit,
  type ModelStandings,
  type RunningOnNodes,
  resolveProviders,
  type StopsOnNodes,
  type SummaryNotes,
  type TestModel,
} from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import { type Inbound, reasonOf } from "../../contract/index.ts";
import type { Base } from "../base.ts";

/** The agents' turns, with the configuration of the place that a message comes from. */
export function createTurns(
  { config, configDirectory, store, secrets, log, now, elapsed }: Omit<Base, "cleanup">,
  {
    account,
    capabilities,
    newId,
    ...parts
  }: Pick<
    AgentTurnsOptions,
    "engines" | "context" | "onTurn" | "onAnswer" | "tools" | "offered" | "acting" | "spending"
  > & {
    readonly capabilities: Accounts["capabilities"];
    readonly account: Accounts["get"];
    readonly newId: () => string;
  },
): {
  readonly turns: AgentTurns;
  readonly stops: StopsOnNodes;
  readonly running: RunningOnNodes;
  readonly describe: ReturnType<typeof createDescribe>;
  readonly standings: ModelStandings;
  readonly testModel: TestModel;
  readonly contexts: ContextStandings;
  readonly compactions: Compactions;
  readonly summaryNotes: SummaryNotes;
} {
  const providers = (models: readonly string[]) =>
    resolveProviders(config(), { secrets, models }, (path, reason) =>
      log.warn({ path }, `a model provider cannot be used: ${reason}`),
    );
  const rooms = createModelRooms({ store, log, now });
  const summaryNotes = createSummaryNotes({ store });
  const ofTurns = {
    ...parts,
    ...{ config, store, providers, rooms, summaryNotes, log, now },
    capabilities,
    place: (inbound: Inbound) => {
      // Only groups and their topics have settings of their own.
      if (inbound.chat.kind === "direct") return undefined;
      const live = inbound.authority === "channel" ? account(inbound.channel, inbound.account) : undefined;
      return live && placeSettings(live.access, live.path, inbound.chat);
    },
    historyLimit: (inbound: Inbound) =>
      historyLimit(inbound, account(inbound.channel, inbound.account)?.options, config().hooks.historyLimit),
    skills: createSkills({ directory: configDirectory, log }),
  };
  const turns = createAgentTurns(ofTurns);
  const contexts = createContextStandings({ ...ofTurns, fixedTexts: createFixedTexts(ofTurns) });
  const compactions = createCompactions({ standings: contexts, rooms, store, spending: parts.spending, log, now });
  const stops = createStopsOnNodes({
    ...{ store, turns },
    onError: (error) => log.warn({ error: reasonOf(error) }, "this node could not report that it has stopped a turn"),
  });
  const running = createRunningOnNodes({
    ...{ store, turns, now },
    onError: (error) => log.warn({ error: reasonOf(error) }, "this node could not report which turns it runs"),
  });
  const { engines, spending } = parts;
  // Asked for often, such as by a page that shows the status: only turns log what is wrong with a provider.
  const standings = createModelStandings({
    engines,
    providers: (models) => resolveProviders(config(), { secrets, models }, () => {}),
    log,
  });
  const ofCalls = { config, engines, providers, spending };
  const describe = createDescribe({ ...ofCalls, log });
  const testModel = createModelTest({ ...ofCalls, now, elapsed, newId });
  return { turns, stops, running, describe, standings, testModel, contexts, compactions, summaryNotes };
}
