/** Which commands work in a message whose words a machine wrote down. */
import { expect, test } from "vitest";
import { isOnlyVoice } from "../../../../core/agents/conversation/sounds.ts";
import { commandIn, createCommands } from "../../../../core/agents/index.ts";
import { withWords } from "../../../../core/agents/speech/heard-message.ts";
import type { InboundMedia } from "../../../../core/contract/index.ts";
import { message } from "../inbound.ts";

const command = (name: string) => ({ name, summary: name, role: "anyone" as const, run: async () => name });
const commands = createCommands({
  native: () => ["stop", "new", "approve", "help"].map(command),
  abortWords: () => ["halt"],
});
const find = (text: string, spoken?: true) => commandIn(commands, message(text, { spoken }), undefined)?.name;

test("only /stop and words that mean it are a command if they were spoken", () => {
  for (const text of ["/new", "/approve ABCD2345", "/help", "/start"]) {
    expect(find(text)).toBeDefined();
    expect(find(text, true)).toBeUndefined();
  }
  for (const text of ["/stop", "halt", "Halt!"]) expect(find(text, true)).toBe("stop");
});

const voice = (ref: string): InboundMedia => ({ kind: "voice", ref });

test("words take the places of their voice messages, in order, and what is not understood stays", () => {
  const [one, two, three] = [voice("1"), voice("2"), voice("3")];
  const inbound = message("<media:audio>\n<media:audio>\ncaption\n<media:audio>", { media: [one, two, three] });
  const heard = withWords(
    inbound,
    new Map([
      [one, "first"],
      [two, ""],
      [three, "third"],
    ]),
  );
  expect(heard).toMatchObject({ text: "first\n<media:audio>\ncaption\nthird", spoken: true });
  expect(withWords(inbound, new Map([[one, ""]]))).toBe(inbound);
  expect(withWords(message("", { media: [one] }), new Map([[one, "words"]])).text).toBe("words");
});

test("a message with words or other files is more than voice", () => {
  expect(isOnlyVoice(message("<media:audio>", { media: [voice("1")] }))).toBe(true);
  expect(isOnlyVoice(message("<media:audio>\nlook", { media: [voice("1")] }))).toBe(false);
  expect(isOnlyVoice(message("", { media: [voice("1"), { kind: "image", ref: "2" }] }))).toBe(false);
  expect(isOnlyVoice(message("", { media: [] }))).toBe(false);
});
