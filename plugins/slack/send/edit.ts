/** Changes a message of the bot. */
import type { Address } from "service-gateway/sdk";
import { ChannelError, type Receipt } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { records } from "../fields.ts";
import { type TextBody, textFields } from "./render.ts";

interface Change {
  readonly channel: string;
  readonly ts: string;
  readonly body: TextBody;
  /** An edit replaces all blocks: those of the buttons are read before. */
  readonly keepsButtons: boolean;
  readonly address: Address;
}

/** `undefined`: there is no such message any more. An edit is the same if it is made twice. */
export async function editMessage(api: SlackApi, change: Change, signal: AbortSignal): Promise<Receipt | undefined> {
  const { channel, ts, body, keepsButtons } = change;
  try {
    const rows = body.rows ?? (keepsButtons ? await buttonsOf(api, change, signal) : []);
    const {
      reply_broadcast: _broadcast,
      unfurl_links: _links,
      unfurl_media: _media,
      ...fields
    } = textFields({ ...body, rows });
    // Slack keeps the blocks of a message unless the call names others.
    await api.call("chat.update", { channel, ts, blocks: [], ...fields }, { signal });
    return { messageId: ts };
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error;
    if (error.reason === "message_gone") return undefined;
    if (error.fate !== "unknown") throw error;
    throw new ChannelError(error.reason, { retryable: true, detail: error.message, cause: error });
  }
}

async function buttonsOf(
  api: SlackApi,
  { channel, ts, address: { thread } }: Change,
  signal: AbortSignal,
): Promise<NonNullable<TextBody["rows"]>> {
  const at = { channel, latest: ts, oldest: ts, inclusive: true, limit: 2 };
  const answer = await (thread === undefined
    ? api.call("conversations.history", at, { signal })
    : api.call("conversations.replies", { ...at, ts: thread }, { signal }));
  const message = records(answer.messages).find((one) => one.ts === ts);
  return records(message?.blocks).filter(({ type }) => type === "actions") as unknown as NonNullable<TextBody["rows"]>;
}
