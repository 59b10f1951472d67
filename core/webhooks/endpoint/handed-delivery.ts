/**
 * A delivery that a plugin submits. Its mapping, records and handling of repetitions are the same as for a request, but
 * it needs neither HTTP nor a token.
 */
import type { Accepted, Json } from "../../contract/index.ts";
import { HttpProblem } from "../../http/index.ts";
import { cleanHookName } from "../../untrusted/index.ts";
import { trimSlashes } from "../mapping/address.ts";
import type { MappingTable } from "../mapping/compiled-mapping.ts";
import { visibleHeaders } from "../mapping/webhook-delivery.ts";
import { answerMapped, type MappedRequestDeps } from "./answer-delivery.ts";
import { deliveryKey } from "./idempotency.ts";

export interface HandedDelivery {
  /** Id of the submitting plugin. */
  readonly plugin: string;
  /** Below `hooks.path`. */
  readonly path: string;
  readonly payload: Json;
  /** Identifies the delivery among those of the plugin at this path. */
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the plugin found out about the sender, for the agent. */
  readonly origin?: string;
  /** The plugin wants to read the agent's reply. */
  readonly keepReply?: boolean;
}

export interface HandedDeps extends MappedRequestDeps {
  /** Whether the hook server is on. */
  readonly isOn: () => boolean;
  readonly mappings: () => MappingTable;
}

/** Throws `HttpProblem`. At status 500 and above the same delivery may be accepted later. */
export async function acceptHanded(handed: HandedDelivery, deps: HandedDeps): Promise<Accepted> {
  if (!deps.isOn()) throw new HttpProblem("not_found", "The hook server is off: set hooks.enabled.");
  const { plugin, payload, key, headers = {}, origin, keepReply } = handed;
  const path = trimSlashes(handed.path);
  const table = deps.mappings();
  const accepted: Accepted[] = [];
  const answer = await answerMapped(
    {
      posted: {
        path,
        type: { "content-type": "application/json" },
        headers: visibleHeaders(headers, table.hiddenHeaders),
        query: {},
        body: Buffer.from(JSON.stringify(payload)),
        now: new Date(deps.now()).toISOString(),
      },
      // If a mapping requires a signature, nothing unsigned passes.
      mappings: table.way(path).mappings.filter(({ settings }) => settings.signature === undefined),
      identity: { key: deliveryKey(key, { path, secret: () => `plugin ${plugin}` }), compared: false },
      handed: {
        by: plugin,
        ...(origin === undefined ? {} : { origin: cleanHookName(origin) }),
        ...(keepReply === true ? { keepReply } : {}),
      },
    },
    {
      ...deps,
      accept: async (input) => {
        const one = await deps.accept(input);
        accepted.push(one);
        return one;
      },
      onRepeated: (eventId) => {
        accepted.push({ eventId, duplicate: true });
        deps.onRepeated?.(eventId);
      },
    },
  );
  const [first] = accepted;
  if (answer === undefined || first === undefined)
    throw new HttpProblem("not_found", `No mapping takes deliveries to ${path}.`);
  return { eventId: first.eventId, duplicate: first.duplicate };
}
