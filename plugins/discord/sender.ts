/** Who has written. */
import type { InboundSender } from "service-gateway/sdk/channel";
import { type Fields, id, text } from "./fields.ts";

/** The name that people see: the one in the server, the one of the person, the account's. */
export function senderOf(user: Fields | undefined, member?: Fields): InboundSender | undefined {
  const sender = id(user?.id);
  if (sender === undefined) return undefined;
  const [username, name] = [
    text(user?.username),
    [member?.nick, user?.global_name, user?.username].find((each) => typeof each === "string" && each !== ""),
  ];
  return {
    id: sender,
    ...(typeof name === "string" && { name }),
    ...(username !== undefined && username !== "" && { username }),
    ...(user?.bot === true && { isBot: true }),
  };
}
