import { expect, test } from "vitest";
import { applyReplyTags } from "../../../core/reply/reply-tags.ts";
import { message } from "../agents/inbound.ts";

const asked = message("hi", { messageId: "3" });
const apply = (text: string) => applyReplyTags({ text, media: [], buttons: [] }, asked);

test.each([
  ["[[reply_to_current]] Hello.", "Hello.", "3"],
  ["Hello. [[REPLY_TO_CURRENT]]", "Hello. ", "3"],
  ["Hel[[ Reply_To : 12 ]]lo.", "Hello.", "12"],
  ["[[reply_to:12]][[reply_to_current]]Hello.", "Hello.", "12"],
  ["[[reply_to:12]] [[reply_to:13]] Hello.", "Hello.", "13"],
  ["- one\n  - two [[reply_to_current]]\n\n```\n  code\n```\n", "- one\n  - two \n\n```\n  code\n```\n", "3"],
  ["[[reply_to_current]]", "", "3"],
  ["[[reply to current]] [reply_to_current] Hello.", "[[reply to current]] [reply_to_current] Hello.", undefined],
])(
  "%j becomes the text %j as a reply to %s, in upper or lower case and with its layout unchanged",
  (text, seen, replyTo) => {
    expect(apply(text)).toEqual({ text: seen, media: [], buttons: [], ...(replyTo === undefined ? {} : { replyTo }) });
  },
);
