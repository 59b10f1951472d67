/** Buttons: what a press of one brings back, and how a genuine press is told from any other request. */
import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import type { Address, Json } from "service-gateway/sdk";
import type { Button, ChannelAccount, ChannelRequest, RouteAnswer } from "service-gateway/sdk/channel";
import type { Directory } from "./directory.ts";
import type { StoredEvent } from "./event.ts";
import { type Fields, id, parseJson, record, text } from "./fields.ts";

export interface Presses {
  /** The attachments of a post that show these buttons. `key` is that of the send. */
  attachments(
    rows: readonly (readonly Button[])[],
    at: Pick<Address, "chat" | "thread"> & { readonly channel: string; readonly key: string },
  ): readonly Json[];
  handler(request: ChannelRequest): Promise<RouteAnswer>;
}

/** The path below the account's own address. */
export const pressPath = "press";
/** How old a press may be: a copied request is of no use later. Repetitions are recognised for longer. */
const latestMs = 3_600_000;

export function createPresses({
  account,
  token,
  callbackUrl,
  directory,
  signingKey,
}: {
  readonly account: Pick<ChannelAccount, "id" | "receive" | "check" | "now">;
  readonly token: string;
  readonly callbackUrl: string;
  readonly directory: Directory;
  /** The key with which the server signs who has pressed; `undefined` if it has none. */
  readonly signingKey: () => Promise<string | undefined>;
}): Presses {
  const url = `${callbackUrl.replace(/\/+$/, "")}/channels/mattermost/${account.id}/${pressPath}`;
  // The same on every node and after a restart. The server shows the context of a button to nobody.
  const secret = createHmac("sha256", token).update("buttons of a gateway").digest();
  const sealOf = (...bound: readonly string[]) =>
    createHmac("sha256", secret)
      .update(JSON.stringify([account.id, ...bound]))
      .digest("base64url");

  function attachments(
    rows: readonly (readonly Button[])[],
    { channel, chat, thread = "", key }: Parameters<Presses["attachments"]>[1],
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

  /** The server signs each press with the person and the time. */
  async function isSigned(trigger: string, user: string): Promise<boolean> {
    const key = await signingKey();
    if (key === undefined) return true;
    const [, signed = "", signature = ""] = /^(.*:)([^:]*)$/s.exec(trigger) ?? [];
    if (signed.split(":")[1] !== user) return false;
    try {
      const publicKey = createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
      return verify("sha256", Buffer.from(signed), publicKey, Buffer.from(signature, "base64"));
    } catch {
      return false;
    }
  }

  async function handler({ body, judge }: ChannelRequest): Promise<RouteAnswer> {
    const request = record(parseJson(body.toString("utf8")));
    const context = record(request.context);
    const refused = judge(() => isSealed(request, context));
    if (refused !== undefined) return refused;
    const trigger = Buffer.from(text(request.trigger_id), "base64").toString("utf8");
    const [press = "", , pressedAt = ""] = trigger.split(":");
    const event = await pressOf(request, context);
    const raw = event as unknown as Json;
    const isGenuine = await isSigned(trigger, id(request.user_id));
    const isLate = trigger !== "" && Math.abs(account.now() - Number(pressedAt)) > latestMs;
    if (!isGenuine || isLate) {
      const silent = isGenuine ? "press_late" : "press_unsigned";
      // It has an id of its own, so that the press itself is not taken for a repetition.
      await account.receive(raw, { silent, id: `${silent}:${press.slice(0, 40)}` });
      return { status: isGenuine ? 200 : 401, body: isGenuine ? notice("This press is too old. Press again.") : {} };
    }
    const verdict = await account.check(raw);
    await account.receive(raw, press === "" ? {} : { id: `press:${press}` });
    return { status: 200, body: verdict.allowed ? {} : notice(verdict.notice) };
  }

  function isSealed(request: Fields, context: Fields): boolean {
    const { chat, thread, key, value } = context;
    const right = Buffer.from(sealOf(text(request.channel_id), text(chat), text(thread), text(key), text(value)));
    const given = Buffer.from(text(context.seal));
    return given.length === right.length && timingSafeEqual(given, right);
  }

  async function pressOf(request: Fields, context: Fields): Promise<StoredEvent> {
    const channel = id(request.channel_id);
    const chat = id(context.chat);
    const isDirect = chat !== channel;
    return {
      type: "press",
      bot: await directory.me(),
      channel: { id: channel, type: isDirect ? "direct" : "group", title: "", ...(isDirect && { person: chat }) },
      user: id(request.user_id),
      username: text(request.user_name),
      at: account.now(),
      post: id(request.post_id),
      thread: id(context.thread),
      text: text(context.value),
      files: [],
    };
  }

  return { attachments, handler };
}

/** Only the person who pressed sees it. */
const notice = (words: string): Json => ({ ephemeral_text: words, skip_slack_parsing: true });
