/** What `parse` leaves out where the usual value is meant. */
import type { Inbound, Silent } from "../contract/index.ts";
import type { ChannelConnection, Parsed } from "../sdk/contract.ts";
import { isObject } from "./answers.ts";
import type { CalledConnection } from "./remote-connection.ts";

/** A message of a channel with everything that its channel knows of it. */
export type CompleteInbound = Omit<Inbound, "id" | "channel" | "account" | "authority" | "request">;

export type CompleteParsed = CompleteInbound | Silent | null | undefined;

/** A connection whose `parse` returns complete messages. */
export interface GuardedConnection extends Omit<CalledConnection, "parse"> {
  parse(...args: Parameters<ChannelConnection["parse"]>): CompleteParsed | Promise<CompleteParsed>;
}

/** Total, because it comes before the check of what a plugin returns. */
export function completeParsed(parsed: Parsed): CompleteParsed {
  if (!isObject(parsed) || "silent" in parsed) return parsed as CompleteParsed;
  const {
    kind = "message",
    media = [],
    mention = isDirect(parsed.chat),
    timestamp = 0,
  } = parsed as Partial<CompleteInbound>;
  return { ...(parsed as CompleteInbound), kind, media, mention, timestamp };
}

const isDirect = (chat: unknown) => isObject(chat) && chat.kind === "direct";
