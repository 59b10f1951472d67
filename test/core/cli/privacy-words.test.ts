/** `privacy` finds a person's messages in transcripts by the lines that the gateway writes before them. */
import { expect, test } from "vitest";
import { renderEnvelope } from "../../../core/agents/conversation/envelope.ts";
import { renderGroupContext } from "../../../core/agents/conversation/group-context.ts";
import { wordsOf } from "../../../core/cli/privacy/words.ts";
import type { Inbound } from "../../../core/contract/types.ts";

const message: Inbound = {
  ...{ id: "e", channel: "botchat", account: "default", kind: "message", text: "strawberries", media: [] },
  ...{ mention: true, timestamp: 1_795_780_500_000, authority: "channel" },
  chat: { id: "7", kind: "direct" },
  sender: { id: "7", name: "Ada", username: "ada" },
};

const places: readonly Inbound["chat"][] = [
  { id: "7", kind: "direct" },
  { id: "7", kind: "direct", thread: "3" },
  { id: "-100", kind: "group", title: "Kitchen" },
  { id: "-100", kind: "group", title: "Kitchen", thread: "3" },
];

/** Every form that a message can have, in every place. */
const forms = places.flatMap((chat) =>
  ([{ kind: "message" }, { kind: "edit" }] as const).flatMap(({ kind }) =>
    [{}, { spoken: true as const }].flatMap((voice) =>
      [{}, { forward: { from: "Bela" } }, { replyTo: { messageId: "1", sender: "Bela", text: "pears" } }].map(
        (origin): Inbound => ({ ...message, kind, chat, ...voice, ...origin }),
      ),
    ),
  ),
);

test("in every form and place, and no message of another person", () => {
  for (const form of forms) {
    const written = renderEnvelope(form);
    expect({ written, asked: wordsOf({ channel: "botchat", id: "7" }, written).asked }).toEqual({
      written,
      asked: true,
    });
    expect(wordsOf({ channel: "botchat", id: "8" }, written)).toEqual({ asked: false });
    expect(wordsOf({ channel: "other", id: "7" }, written)).toEqual({ asked: false });
  }
});

test("among the messages that another person's turn has read before it, in every form", () => {
  const asked = renderEnvelope({ ...message, sender: { id: "8", name: "Bela" }, chat: { id: "-100", kind: "group" } });
  for (const form of forms.filter(({ chat }) => chat.kind === "group")) {
    const { asked: isTheirs, without } = wordsOf(
      { channel: "botchat", id: "7" },
      `${renderGroupContext([{ ...form, text: "secret" }])}\n${asked}`,
    );
    expect(isTheirs).toBe(false);
    expect(without).toContain("strawberries");
    expect(without).not.toContain("secret");
  }
});
