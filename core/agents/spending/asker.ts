/** For whom a model is called, as the ledger records it. */
import type { Inbound, Route } from "../../contract/index.ts";
import type { CallPurpose } from "../../state/index.ts";

export interface Asker {
  readonly agentId: string;
  readonly purpose: CallPurpose;
  readonly sessionKey?: string;
  readonly channel?: string;
  readonly account?: string;
  /** The person who wrote, if one did. */
  readonly sender?: string;
  readonly eventId?: string;
}

const purposes: Readonly<Record<string, CallPurpose>> = { heartbeat: "heartbeat", hooks: "webhook" };

/** A person caused the turn, and not a webhook, a heartbeat or a plugin. */
export const isOfPerson = ({ authority, request }: Pick<Inbound, "authority" | "request">): boolean =>
  authority === "channel" && request === undefined;

export function askerOf(
  inbound: Inbound,
  { agentId, sessionKey, person }: Pick<Route, "agentId" | "sessionKey" | "person">,
): Asker {
  const { id, account, authority, request } = inbound;
  // The budget of a person with several ids is one.
  const { channel, id: senderId } = person ?? { channel: inbound.channel, id: inbound.sender.id };
  const purpose = purposes[inbound.channel];
  return {
    ...{ agentId, sessionKey, channel, account, eventId: id },
    // A request in a chat is a plugin's, for the person who asked for it.
    purpose: purpose ?? (request === undefined ? "turn" : (request.purpose ?? "plugin")),
    ...(authority === "channel" && purpose === undefined ? { sender: senderId } : {}),
  };
}
