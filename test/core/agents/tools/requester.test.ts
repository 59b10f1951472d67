/** Whose rights a turn has: only those of a person whose own words began it. */
import { expect, test } from "vitest";
import { personOf } from "../../../../core/agents/tools/requester.ts";
import type { Inbound, InboundMedia } from "../../../../core/contract/types.ts";

const message: Inbound = {
  ...{ id: "e", channel: "botchat", account: "default", kind: "message", text: "burn the letters", media: [] },
  ...{ mention: true, timestamp: 0, authority: "channel" },
  chat: { id: "7", kind: "direct" },
  sender: { id: "7" },
};
const sound = (kind: InboundMedia["kind"], mimeType: string): InboundMedia => ({ kind, mimeType, ref: kind });
const voice = sound("voice", "audio/ogg");
const music = sound("audio", "audio/mpeg");
const person = { channel: "botchat", account: "default", senderId: "7" };

test.each([
  ["a text", {}, person],
  ["a voice message", { spoken: true, media: [voice] }, person],
  ["a text with a recording that is not transcribed", { media: [music] }, person],
  ["a recording, in which anyone may speak", { spoken: true, media: [music] }, undefined],
  ["a recording as a document", { spoken: true, media: [sound("document", "audio/wav")] }, undefined],
  ["a recording beside a voice message", { spoken: true, media: [voice, music] }, undefined],
  ["a forwarded voice message", { spoken: true, media: [voice], forward: { from: "Bela" } }, undefined],
] as const)("%s", (_name, change, expected) => {
  expect(personOf({ ...message, ...change })).toEqual(expected);
});
