/** The actions as tools of an engine: those that are open in the current chat. */
import type { ActingHint } from "../agents/index.ts";
import type { LiveAccount } from "../channels/index.ts";
import type { Inbound, Json, Route } from "../contract/index.ts";
import type { EngineTool } from "../sdk/contract.ts";
import { checkAction, type Gated, reactionLevel } from "./gates.ts";
import type { ActionRunner } from "./run.ts";
import { type ActionName, actionSchemas, parametersOf } from "./schema.ts";

interface Open extends ActingHint {
  readonly actions: readonly ActionName[];
}

export interface ActionTools {
  tools(inbound: Inbound, route: Route): readonly EngineTool[];
  /** `undefined`: no action is open, or there is no current chat. */
  hint(inbound: Inbound, route: Route): ActingHint | undefined;
}

/** One for each action, by its first name: a second tool that does the same costs every turn its tokens. It never changes. */
const declared: readonly (Omit<EngineTool, "run" | "name"> & { readonly name: ActionName })[] = actionSchemas.map((schema) => ({
  name: schema.name,
  description: schema.description,
  parameters: parametersOf(schema),
}));

export function createActionTools(options: {
  readonly runner: ActionRunner;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
}): ActionTools {
  // Options of an account are replaced whole when they change, so what follows from them is found once.
  const hints = new WeakMap<object, Open>();

  function hint(inbound: Inbound, route: Route): Open | undefined {
    // Asked for every turn: the current account, without its chat.
    const here = inbound.authority === "channel" ? inbound : route.to;
    const live = here === null ? undefined : options.account(here.channel, here.account);
    if (live === undefined) return undefined;
    let known = hints.get(live.options);
    if (known === undefined) {
      known = hintFor(live);
      hints.set(live.options, known);
    }
    return known.actions.length === 0 ? undefined : known;
  }

  return {
    hint,
    tools(inbound, route) {
      const open = hint(inbound, route)?.actions ?? [];
      // Counted over the turn: the same call made twice is two messages, made again after a crash it is one.
      let ordinal = 0;
      return declared
        .filter(({ name }) => open.includes(name))
        .map(({ name, description, parameters }) => ({
          name,
          description,
          parameters,
          async run(args, signal) {
            ordinal += 1;
            return (await options.runner.run(name, args, { by: "agent", inbound, route, ordinal }, signal)) as unknown as Json;
          },
        }));
    },
  };
}

function hintFor(live: LiveAccount): Open {
  const gated: Gated = { live, pathOf: (keys) => keys.join("."), by: "agent" };
  const actions = actionSchemas.flatMap(({ name }) => (checkAction(name, gated) === undefined ? [name] : []));
  if (!actions.includes("react")) return { actions };
  return { actions, reactions: reactionLevel(live.options) === "extensive" ? "extensive" : "minimal" };
}
