/** The requests of the server for presses: checked, stored, and answered to the person who pressed. */
import { createPublicKey, verify } from "node:crypto";
import type { Json } from "service-gateway/sdk";
import type { ChannelAccount, ChannelRequest, RouteAnswer } from "service-gateway/sdk/channel";
import type { Directory } from "../directory.ts";
import { type Fields, id, parseJson, record, text } from "../fields.ts";
import type { Buttons } from "../send/buttons.ts";
import type { StoredEvent } from "./event.ts";

/** How old a press may be: a copied request is of no use later. Repetitions are recognised for longer. */
const latestMs = 3_600_000;

export function createPressHandler({
  account,
  buttons,
  directory,
  signingKey,
}: {
  readonly account: Pick<ChannelAccount, "receive" | "check" | "now">;
  readonly buttons: Pick<Buttons, "isSealed">;
  readonly directory: Directory;
  /** The key with which the server signs who has pressed; `undefined` if it has none. */
  readonly signingKey: () => Promise<string | undefined>;
}): (request: ChannelRequest) => Promise<RouteAnswer> {
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

  return async ({ body, judge }) => {
    const request = record(parseJson(body.toString("utf8")));
    const context = record(request.context);
    const refused = judge(() => buttons.isSealed(request, context));
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
  };
}

/** Only the person who pressed sees it. */
const notice = (words: string): Json => ({ ephemeral_text: words, skip_slack_parsing: true });
