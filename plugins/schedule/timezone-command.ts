/** The chat command `/timezone`. */
import type { CommandCall, PluginHost } from "service-gateway/sdk";
import { sayTime } from "./wording.ts";
import { setTimezone, timezoneOf } from "./zones.ts";

export async function timezoneCommand(
  { args, inbound }: CommandCall,
  host: Pick<PluginHost, "store" | "timezone" | "now">,
): Promise<string> {
  const asked = args.trim();
  if (asked !== "" && !(await setTimezone(host, inbound, asked === "default" ? undefined : asked)))
    return "There is no such time zone. Write a name such as `Europe/Berlin`, `America/New_York` or `UTC`.";
  const timezone = await timezoneOf(host, inbound);
  const change =
    asked === ""
      ? " `/timezone Europe/Berlin` changes it, `/timezone default` resets it."
      : " It applies to new reminders.";
  return `Your time zone is ${timezone}. It is ${sayTime(host.now(), timezone)}.${change}`;
}
