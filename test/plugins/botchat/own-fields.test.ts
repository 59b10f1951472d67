/** What a reply contains of the Bot API's own, on the emulated platform. */
import type { Address, Reply } from "service-gateway/sdk";
import type { ChannelConnection, Part } from "service-gateway/sdk/channel";
import { aroundEach, describe, test } from "vitest";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { until } from "./account.ts";
import { ada, callsOf, direct, forum, messageIn, never, reply, start } from "./platform.ts";

aroundEach(inOwnTest);

/** A heart, which every account may use. */
const heart = "5159385139981059251";
const own = (fields: NonNullable<Reply["platform"]>[string], more: Partial<Reply> = {}) =>
  reply("See https://example.test", { platform: { botchat: fields }, ...more });

async function started(options: object = {}) {
  const found = await start(options);
  found.platform.act.say(ada, ada, "hello");
  await until(() => found.account.received.length === 1, "the first message");
  return found;
}

async function sendAll(connection: ChannelConnection, what: Reply, address: Address = direct) {
  const parts = connection.render(what, address);
  const ids: string[] = [];
  for (const part of parts) ids.push((await connection.send(part, address, never)).messageId);
  return { parts, ids };
}

const omitted = (parts: readonly Part[]) => parts.flatMap((part) => part.omitted ?? []);

describe.concurrent("fields of the platform's own", () => {
  test("protection is on every message, an effect on the first, and a preview as it was asked for", async () => {
    const { platform, connection } = await started({ linkPreview: false, textChunkLimit: 30 });
    const preview = { is_disabled: false, url: "https://example.test/a", show_above_text: true };
    const what = own(
      { protect_content: true, message_effect_id: heart, link_preview_options: preview },
      { text: "word ".repeat(10) },
    );
    const { ids } = await sendAll(connection, what);
    const [first, second] = ids.map((id) => messageIn(platform, id));
    expect(first).toMatchObject({ has_protected_content: true, effect_id: heart, link_preview_options: preview });
    expect(second).toMatchObject({ has_protected_content: true, link_preview_options: preview });
    expect(second).not.toHaveProperty("effect_id");
  });

  test("an effect is left out in a group, and in an edit, which says so", async () => {
    const { platform, connection } = await started();
    const group: Address = { ...direct, chat: String(forum) };
    const { parts, ids } = await sendAll(connection, own({ message_effect_id: heart }), group);
    expect(omitted(parts)).toEqual(["message_effect_id: effects are for direct chats"]);
    expect(messageIn(platform, ids[0], forum)).toMatchObject({ text: "See https://example.test" });
    const edit = own({ protect_content: true, message_effect_id: heart }, { replaces: "7" });
    expect(omitted(connection.render(edit, direct))).toEqual([
      "protect_content and message_effect_id: an edit cannot change them",
    ]);
  });

  test("a message whose effect the platform does not know is sent without it", async () => {
    const { platform, connection } = await started();
    const { ids } = await sendAll(connection, own({ message_effect_id: "123", protect_content: true }));
    expect(callsOf(platform, "sendMessage").map(({ params }) => params.message_effect_id)).toEqual(["123", undefined]);
    expect(messageIn(platform, ids[0])).toMatchObject({ has_protected_content: true });
  });
});
