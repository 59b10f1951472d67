/** The time zones of people: their own, set with `/timezone`, else that of the configuration, else the host's. */
import type { Inbound, PluginHost } from "service-gateway/sdk";
import { isTimeZone } from "./wording.ts";

type Host = Pick<PluginHost, "store" | "timezone">;
type Sender = Pick<Inbound, "channel" | "sender">;

const zoneKey = ({ channel, sender }: Sender) => `timezone:${channel}:${sender.id}`;

export async function timezoneOf({ store, timezone }: Host, sender: Sender): Promise<string> {
  const own = await store.get(zoneKey(sender));
  return typeof own === "string" ? own : await timezone();
}

/** `undefined` removes it. Resolves with `false` for an unknown zone. */
export async function setTimezone(
  { store }: Pick<Host, "store">,
  sender: Sender,
  timezone: string | undefined,
): Promise<boolean> {
  if (timezone === undefined) await store.delete(zoneKey(sender));
  else if (isTimeZone(timezone)) await store.set(zoneKey(sender), timezone, { durable: true });
  else return false;
  return true;
}
