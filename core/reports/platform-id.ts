/** Chats and senders, as users type them. */
import { HostError } from "../contract/errors.ts";
import type { PlatformId } from "../state/report.ts";

/** `CHANNEL:1001`, or `1001` for any channel. Throws `usage`. */
export function parsePlatformId(flag: string, text: string): PlatformId {
  const trimmed = text.trim();
  const [, channel, id = trimmed] = /^([a-z][a-z0-9_-]*):(.+)$/is.exec(trimmed) ?? [];
  if (id === "")
    throw new HostError("usage", { reason: `${flag} is empty: write an id, or a channel, a colon and an id` });
  return channel === undefined ? { id } : { channel: channel.toLowerCase(), id };
}

export const renderPlatformId = ({ channel, id }: PlatformId): string =>
  channel === undefined ? id : `${channel}:${id}`;
