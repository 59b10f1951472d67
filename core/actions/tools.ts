/** Offers the actions that the current chat allows as tools of an engine. */
import type { ActingHint, OwnTool } from "../agents/index.ts";
import type { LiveAccount } from "../channels/index.ts";
import type { Inbound, Json, Route } from "../contract/index.ts";
import { hasActed, type Visit } from "../stations/index.ts";
import { checkAction, type Gated, reactionLevel } from "./gates.ts";
import type { ActionRunner } from "./run.ts";
import { type ActionName, actionSchemas, parametersOf } from "./schema.ts";

interface Open extends ActingHint {
  readonly actions: readonly ActionName[];
}

export interface ActionTools {
  tools(inbound: Inbound, route: Route, visit: Visit): readonly OwnTool[];
  /**
   * What to say about the tools in the instructions; `undefined` if no action is allowed or there is no current chat.
   */
  hint(inbound: Inbound, route: Route): ActingHint | undefined;
}

/** One tool for each action, under its short name. A duplicate tool would cost tokens in every turn. */
const declared: readonly (Omit<OwnTool, "run" | "name"> & { readonly name: ActionName })[] = actionSchemas.map(
  (schema) => ({
    name: schema.name,
    description: schema.description,
    parameters: parametersOf(schema),
    // What is sent has the key of its call, and the other changes have the same effect twice.
    ...(schema.name === "sticker-search" ? { readOnly: true } : { idempotent: true }),
  }),
);

export function createActionTools(options: {
  readonly runner: ActionRunner;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
}): ActionTools {
  // Cached by the account's options object, which is replaced as a whole when it changes.
  const hints = new WeakMap<object, Open>();

  function hint(inbound: Inbound, route: Route): Open | undefined {
    // Called for every turn. It depends on the current account, but not on the chat.
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
    tools(inbound, route, visit) {
      const open = hint(inbound, route)?.actions ?? [];
      return declared
        .filter(({ name }) => open.includes(name))
        .map(({ name, ...outline }) => ({
          name,
          ...outline,
          // Two identical calls are two messages, but a call repeated after a crash is one.
          async run(args, signal, { key }) {
            const result = await options.runner.run(name, args, { by: "agent", inbound, route, key }, signal);
            if (result.ok && name !== "sticker-search") visit.set(hasActed, true);
            return result as unknown as Json;
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
