/** The chat commands `/reminders` and `/timezone`. */
import type { CommandCall } from "service-gateway/sdk";
import type { Reminders } from "./reminders.ts";
import { timesText, viewOf } from "./view.ts";
import { sayTime } from "./wording.ts";

/** Text of a person in one line, without what would end the code that shows it. */
const shown = (text: string) => text.replace(/\s+/g, " ").replaceAll("`", "'").slice(0, 100);

export async function remindersCommand({ args, inbound }: CommandCall, reminders: Reminders): Promise<string> {
  const [word = "", id = ""] = args.split(/\s+/);
  if (word === "cancel" && id !== "") {
    const answer = await reminders.cancel(id, inbound);
    return answer.ok ? `The reminder ${answer.cancelled} is cancelled.` : answer.error;
  }
  if (word !== "") return "Use `/reminders` for the reminders of this chat, and `/reminders cancel ID` to cancel one.";
  const views = reminders.of(inbound).map(viewOf);
  if (views.length === 0) return "There are no reminders in this chat. Ask me to remind you of something.";
  const lines = views.map(({ name, message = "", times, next, state }) => {
    const repeats = times !== undefined && "cron" in times ? `, ${timesText(times)}` : "";
    return `- \`${name}\` \`${shown(message)}\`: ${state === "paused" ? "paused" : (next[0]?.text ?? "due")}${repeats}`;
  });
  return ["**Reminders of this chat**", ...lines, "", "`/reminders cancel ID` cancels one."].join("\n");
}

export async function timezoneCommand(
  { args, inbound }: CommandCall,
  { reminders, now }: { readonly reminders: Reminders; readonly now: number },
): Promise<string> {
  const asked = args.trim();
  if (asked !== "" && !(await reminders.setTimezone(inbound, asked === "default" ? undefined : asked)))
    return "There is no such time zone. Write a name such as `Europe/Berlin`, `America/New_York` or `UTC`.";
  const timezone = await reminders.timezoneOf(inbound);
  const change = asked === "" ? " `/timezone Europe/Berlin` changes it, `/timezone default` resets it." : " It applies to new reminders.";
  return `Your time zone is ${timezone}. It is ${sayTime(now, timezone)}.${change}`;
}
