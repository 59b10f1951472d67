/**
 * Whether a message is there already. Slack recognizes no repetition, but it stores what an app adds to a message,
 * where the key of the part is found again. https://docs.slack.dev/messaging/message-metadata
 */
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { isTimestamp, record, records } from "../fields.ts";

const eventType = "service_gateway_part";
const mostPlaces = 1_000;
/** In a thread, Slack lists the oldest messages first. */
const threadSeconds = 3_600;

export interface SentBefore {
  /** What is added to a message, so that it is found again. */
  mark(key: string | undefined): object | undefined;
  /** The id of the message with this key. Asks only where a send may have been cut off: it costs a call. */
  find(at: Place, key: string | undefined, signal: AbortSignal): Promise<string | undefined>;
  /** A send has ended: with a message, or with a fate that is not known. */
  ended(at: Place, isKnown: boolean): void;
}

interface Place {
  readonly channel: string;
  readonly thread: string | undefined;
}

const nameOf = ({ channel, thread = "" }: Place) => `${channel}:${thread}`;

export function createSentBefore(api: SlackApi, { now, log }: Pick<ChannelAccount, "now" | "log">): SentBefore {
  /** Channels and threads whose last send has a known end. A process that was killed in mid-send knew of none. */
  const known = new Set<string>();
  return {
    mark: (key) => (key === undefined ? undefined : { event_type: eventType, event_payload: { key } }),
    async find({ channel, thread }, key, signal) {
      if (key === undefined || known.has(nameOf({ channel, thread }))) return undefined;
      const oldest = (now() / 1_000 - threadSeconds).toFixed(6);
      try {
        const answer = await (thread === undefined
          ? api.call("conversations.history", { channel, limit: 30, include_all_metadata: true }, { signal })
          : api.call(
              "conversations.replies",
              { channel, ts: thread, oldest, limit: 200, include_all_metadata: true },
              { signal },
            ));
        const isIt = (metadata: unknown) =>
          record(metadata)?.event_type === eventType && record(record(metadata)?.event_payload)?.key === key;
        const ts = records(answer.messages).find(({ metadata }) => isIt(metadata))?.ts;
        return isTimestamp(ts) ? ts : undefined;
      } catch (error) {
        // Without the permission for histories, or while Slack limits them, the message is sent as if it were new.
        log.debug({ reason: String(error) }, "it was not looked up whether a message is there already");
        return undefined;
      }
    },
    ended(at, isKnown) {
      known.delete(nameOf(at));
      if (isKnown) known.add(nameOf(at));
      if (known.size > mostPlaces) known.delete(known.values().next().value as string);
    },
  };
}
