/** The id of the bot, which its token begins with, in base64. */
import { isSnowflake } from "./snowflake.ts";

export function botOf(token: string): string | undefined {
  const [first = ""] = token.split(".");
  const bot = Buffer.from(first, "base64url").toString("latin1");
  return isSnowflake(bot) ? bot : undefined;
}
