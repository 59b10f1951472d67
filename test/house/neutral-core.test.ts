import { expect, test } from "vitest";
import { linesMatching, read, sources, withoutComments } from "./sources.ts";

/** Names of channels, model providers, mail providers and their libraries. */
const names =
  /\b(?:botchat|telegram|whatsapp|discord|slack|mattermost|imessage|msteams|irc|openai|anthropic|google|gmail|imap|ollama|grammy)\b/i;

/** Files whose subject is such a name, with the reason. */
const named: Readonly<Record<string, string>> = {
  "core/webhooks/runs/channel-ids.ts": "the delivery channels that a hook request may name, as data",
  "core/webhooks/signature/schemes.ts": "how each platform signs its hooks, as a table",
  "core/cli/program.ts": "the examples of the help texts, which are copied as they stand",
  "core/sdk/markup/dialects.ts": "the markups of platforms, as values that authors of channels write",
  "core/sdk/markup/backslash-marks.ts": "how a platform writes Markdown, as a table",
  "core/sdk/markup/pair-marks.ts": "how each platform writes pairs of marks, as a table",
  "core/sdk/markup/telegram.ts": "the tags of a platform, as a table",
  "core/sdk/contract/engine.ts": "the wire protocols of model servers, as values of one setting",
  "core/config/known-providers.ts": "the model servers that users write by name, as a table",
  "core/config/schema/models.ts": "the wire protocols of model servers, as values of one setting",
  "core/config/schema/hook-senders.ts": "the signature schemes of senders, as values that users write",
};

test("core names no channel or provider outside its data", () => {
  const found = sources("core/**/*.ts")
    .filter((path) => named[path] === undefined)
    .flatMap((path) => linesMatching(path, withoutComments(read(path)), names));
  expect(found).toEqual([]);
});

/** What plugins do, as words of names, texts and comments. */
const features = /\b(?:mcp|schedules?|mail(?:s|box(?:es)?)?)\b/i;

/** Files in which such a word is no plugin's, with the reason. */
const ofFeature: Readonly<Record<string, string>> = {
  "core/cli/program.ts": "the examples of the help texts, which are copied as they stand",
  "core/untrusted/external.ts": "what a text from outside may ask an agent to destroy",
};

/** `mcpServers` and `last_mail` are two words each. */
const inWords = (text: string) => text.replace(/([a-z0-9])(?=[A-Z])|_/g, "$1 ");

test("core knows nothing of what the bundled plugins do: not in names, texts or comments", () => {
  const found = sources("core/**/*.ts")
    .filter((path) => ofFeature[path] === undefined)
    .flatMap((path) => linesMatching(path, inWords(read(path)), features));
  expect(found).toEqual([]);
  // Each exception is still one.
  expect(Object.keys(ofFeature).filter((path) => !features.test(inWords(read(path))))).toEqual([]);
});

/** Words of one platform, which a channel of another would have to learn. */
const ofOnePlatform = /callback_data|inline_keyboard|parse_mode|forum|video.?note|numeric|chat_id|message_thread/i;

test("the contract for plugins and channels uses no terms of a single platform", () => {
  expect(linesMatching("core/sdk/SURFACE.md", read("core/sdk/SURFACE.md"), ofOnePlatform)).toEqual([]);
});
