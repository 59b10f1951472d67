/** Buttons below a post, each with a seal that only the gateway can write. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Address, Json } from "service-gateway/sdk";
import type { Button } from "service-gateway/sdk/channel";
import { type Fields, text } from "../fields.ts";

/** Where a button is. `key` is that of the send. */
export type ButtonPlace = Pick<Address, "chat" | "thread"> & { readonly channel: string; readonly key: string };

export interface Buttons {
  /** The attachments of a post that show these buttons. */
  attachments(rows: readonly (readonly Button[])[], at: ButtonPlace): readonly Json[];
  /** Whether a press brings back what the gateway wrote, in the same channel. */
  isSealed(request: Fields, context: Fields): boolean;
}

/** The path below the account's own address. */
export const pressPath = "press";

export function createButtons({
  account,
  token,
  callbackUrl,
}: {
  readonly account: string;
  readonly token: string;
  readonly callbackUrl: string;
}): Buttons {
  const url = `${callbackUrl.replace(/\/+$/, "")}/channels/mattermost/${account}/${pressPath}`;
  // The same on every node and after a restart. No client sees the context of a button.
  const secret = createHmac("sha256", token).update("buttons of a gateway").digest();
  const sealOf = (...bound: readonly string[]) =>
    createHmac("sha256", secret)
      .update(JSON.stringify([account, ...bound]))
      .digest("base64url");

  function attachments(
    rows: readonly (readonly Button[])[],
    { channel, chat, thread = "", key }: ButtonPlace,
  ): readonly Json[] {
    return rows.map((row, at) => ({
      // What clients show that have no buttons.
      fallback: row.map((button) => button.text).join(" | "),
      actions: row.map(({ text: name, value }, index) => ({
        // The server's own paths take letters and digits only.
        id: `b${at}x${index}`,
        type: "button",
        name,
        integration: { url, context: { chat, thread, key, value, seal: sealOf(channel, chat, thread, key, value) } },
      })),
    }));
  }

  function isSealed(request: Fields, context: Fields): boolean {
    const { chat, thread, key, value } = context;
    const right = Buffer.from(sealOf(text(request.channel_id), text(chat), text(thread), text(key), text(value)));
    const given = Buffer.from(text(context.seal));
    return given.length === right.length && timingSafeEqual(given, right);
  }

  return { attachments, isSealed };
}
