/** What each request of a conversation begins with: the instructions, and the declarations of the tools. */
import type { PlaceSettings } from "../../access/index.ts";
import type { AgentSettings, AgentsView } from "../../config/index.ts";
import type { Address, Inbound, Route } from "../../contract/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import { Visit } from "../../stations/index.ts";
import { gatherTools, type TurnTools, type TurnToolsOptions } from "../tools/turn-tools.ts";
import { type ActingHint, renderInstructions } from "./prompt.ts";
import type { TurnChoice } from "./turn-choice.ts";

export interface FixedTextsOptions extends TurnToolsOptions {
  readonly config: () => AgentsView;
  /** What of the tools the instructions tell; `undefined`: there are none. */
  readonly acting?: (inbound: Inbound, route: Route) => ActingHint | undefined;
  /** What an account can do, for the instructions. */
  readonly capabilities?: (at: Pick<Address, "channel" | "account">) => ChannelCapabilities | undefined;
  /** What the configuration says about the place of a message. */
  readonly place?: (inbound: Inbound) => Pick<PlaceSettings, "skills" | "systemPrompt"> | undefined;
}

export function turnInstructions(
  options: FixedTextsOptions,
  {
    agent,
    inbound,
    route,
    gathered,
    place,
  }: {
    readonly agent: AgentSettings;
    readonly inbound: Inbound;
    readonly route: Route;
    readonly gathered: TurnTools;
    readonly place: Pick<PlaceSettings, "systemPrompt"> | undefined;
  },
): string {
  return renderInstructions({
    ...{ agent, inbound, route },
    capabilities: route.to === null ? undefined : options.capabilities?.(route.to),
    placePrompts: place?.systemPrompt,
    acting: options.acting?.(inbound, route),
    speaks: speaks(options.config()),
    skills: gathered.skills,
    notes: [...gathered.notes, ...gathered.context],
  });
}

function speaks({ models }: AgentsView): boolean {
  const out = models?.speech?.out;
  return out !== undefined && out.when !== "never";
}

export function createFixedTexts(
  options: FixedTextsOptions,
): (choice: Pick<TurnChoice, "agent">, inbound: Inbound, route: Route) => Promise<readonly string[]> {
  return async ({ agent }, inbound, route) => {
    const place = options.place?.(inbound);
    const gathered = await gatherTools(options, { agent, inbound, route, visit: new Visit(), place });
    const tools = gathered.tools().map(({ name, description, parameters }) => ({ name, description, parameters }));
    return [
      turnInstructions(options, { agent, inbound, route, gathered, place }),
      tools.length === 0 ? "" : JSON.stringify(tools),
    ];
  };
}
