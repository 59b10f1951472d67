/** The chat command `/reminders`. */
import { type CommandCall, escapeMarkdown } from "service-gateway/sdk";
import type { Reminders } from "./reminders.ts";
import { timesText } from "./view.ts";

const longest = 100;

/** The beginning of a text, on one line and letter by letter. */
function shown(text: string): string {
  const characters = [...text.replace(/\s+/g, " ")];
  return escapeMarkdown(
    characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : characters.join(""),
  );
}

export async function remindersCommand({ args, inbound }: CommandCall, reminders: Reminders): Promise<string> {
  const [word = "", id = ""] = args.split(/\s+/);
  if (word === "cancel" && id !== "") {
    const answer = await reminders.cancel(id, inbound);
    return answer.ok ? `The reminder ${answer.cancelled} is cancelled.` : answer.error;
  }
  if (word !== "") return "Use `/reminders` for the reminders of this chat, and `/reminders cancel ID` to cancel one.";
  const views = reminders.views(inbound);
  if (views.length === 0) return "There are no reminders in this chat. Ask me to remind you of something.";
  const lines = views.map(({ name, message = "", times, next, state }) => {
    const repeats = times !== undefined && "cron" in times ? `, ${timesText(times)}` : "";
    return `- \`${name}\` ${shown(message)}: ${state === "paused" ? "paused" : (next[0]?.text ?? "due")}${repeats}`;
  });
  return ["**Reminders of this chat**", ...lines, "", "`/reminders cancel ID` cancels one."].join("\n");
}
