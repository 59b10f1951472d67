import type { Chat, Message, ReactionTypeEmoji, Update, User } from "@grammyjs/types";
import { describe, expect, test } from "vitest";
import { reactionEmoji } from "../../../plugins/playground/platform/reactions.ts";
import type * as wire from "../../../plugins/playground/platform/wire.ts";
import { ada, openPlatform, workshop } from "./client.ts";

/** Compiles only while what the platform hands out fits the reference types. */
type Fits<Reference, Given extends { [K in keyof Given]: K extends keyof Reference ? unknown : never }> = Given;
type MessageFields = Fits<Message, Required<wire.Message>>;
type UserFields = Fits<User, Required<wire.User>>;
type ChatFields = Fits<
  Chat & { first_name?: string; last_name?: string; title?: string; username?: string; is_forum?: true },
  Required<wire.Chat>
>;

describe("the reference types", () => {
  test("contain every field that the platform returns", () => {
    const names: readonly (keyof MessageFields | keyof UserFields | keyof ChatFields)[] = [
      "message_id",
      "first_name",
      "title",
    ];
    expect(names).toHaveLength(3);
  });

  test("contain every reaction of the platform", () => {
    const reactions: readonly ReactionTypeEmoji["emoji"][] = reactionEmoji as readonly ReactionTypeEmoji["emoji"][];
    expect(new Set(reactions).size).toBe(73);
  });

  test("match an update received over HTTP", async () => {
    await using home = await openPlatform();
    home.platform.act.say(ada, workshop, "/do it");
    const updates = (await home.call("getUpdates")).result as Update[];
    expect(updates.map((update) => update.message?.entities?.[0]?.type)).toEqual(["bot_command", "bot_command"]);
    expect(updates[1]?.message?.chat).toEqual({ id: workshop, type: "supergroup", title: "Workshop", is_forum: true });
  });
});
