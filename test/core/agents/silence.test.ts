import { describe, expect, test } from "vitest";
import {
  isHeartbeatAck,
  isNoReply,
  silenceReason,
  speakable,
  withoutTokens,
  withoutTokensSoFar,
} from "../../../core/reply/silence.ts";
import { leastCostOf } from "../../support/cost.ts";

const words = (characters: number) => "x".repeat(characters);

describe("a heartbeat acknowledgement", () => {
  const cases: readonly [string, string, boolean][] = [
    ["the token alone", "HEARTBEAT_OK", true],
    ["with space and a full stop", "  HEARTBEAT_OK. \n", true],
    ["in bold", "**HEARTBEAT_OK**", true],
    ["in HTML", "<b>HEARTBEAT_OK</b>&nbsp;", true],
    ["in code", "`HEARTBEAT_OK`", true],
    ["in a fence", "```\nHEARTBEAT_OK\n```", true],
    ["at the beginning of a short remark", "HEARTBEAT_OK all is quiet", true],
    ["at the end of a short remark", "Nothing new. HEARTBEAT_OK", true],
    ["at both edges", "HEARTBEAT_OK nothing HEARTBEAT_OK", true],
    ["twice", "HEARTBEAT_OK HEARTBEAT_OK", true],
    ["with exactly 300 characters beside it", `HEARTBEAT_OK ${words(300)}`, true],
    ["with 301", `HEARTBEAT_OK ${words(301)}`, false],
    ["in the middle", "I say HEARTBEAT_OK to you", false],
    ["as a part of a word", "HEARTBEAT_OKAY", false],
    ["behind a part of a word", "MY_HEARTBEAT_OK", false],
    ["in another case", "heartbeat_ok", false],
    ["an empty text", "", false],
    ["a text without it", "The build failed.", false],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    expect(isHeartbeatAck(text)).toBe(expected);
  });

  test("counts user-visible characters against the configured limit", () => {
    expect(isHeartbeatAck("HEARTBEAT_OK 👍👍👍", 3)).toBe(true);
    expect(isHeartbeatAck("HEARTBEAT_OK 👍👍👍", 2)).toBe(false);
    expect(isHeartbeatAck("HEARTBEAT_OK.", 0)).toBe(true);
  });
});

describe("recognizing NO_REPLY", () => {
  const cases: readonly [string, boolean][] = [
    ["NO_REPLY", true],
    [" *NO_REPLY*.\n", true],
    ["<i>NO_REPLY</i>", true],
    ["NO_REPLY because nothing is new", false],
    ["There is NO_REPLY", false],
    ["NO_REPLYING", false],
    ["", false],
  ];
  test.each(cases)("%j is NO_REPLY: %s", (text, expected) => {
    expect(isNoReply(text)).toBe(expected);
  });
});

test("the reason for silence is named, and is null for a text that will be sent", () => {
  const reasons = ["NO_REPLY", "HEARTBEAT_OK", "Hello."].map((text) => silenceReason(text, { ackMaxChars: 300 }));
  expect(reasons).toEqual(["no_reply", "heartbeat_ok", null]);
});

test.each([
  ["Done. NO_REPLY", "Done."],
  ["Done.\n\nNO_REPLY.\n", "Done."],
  ["Done. **NO_REPLY**", "Done."],
  ["**Done.** NO_REPLY", "**Done.**"],
  ["**Done. NO_REPLY**", "**Done.**"],
  ["Done.\n```\nNO_REPLY\n```", "Done."],
  ["Done. <b>NO_REPLY</b>", "Done."],
  ["NO_REPLY because nothing is new", "because nothing is new"],
  ["NO_REPLY: nothing is new", "nothing is new"],
  ["`HEARTBEAT_OK`\n\n- one\n- two", "- one\n- two"],
  ["HEARTBEAT_OK - the build is red. HEARTBEAT_OK", "the build is red."],
  ["HEARTBEAT_OK the build is red. NO_REPLY", "the build is red."],
  ["NO_REPLY", ""],
  ["I say NO_REPLY to you", "I say NO_REPLY to you"],
  ["MY_NO_REPLY", "MY_NO_REPLY"],
  ["NO_REPLYING", "NO_REPLYING"],
  ["  two spaces, and a plain text  ", "  two spaces, and a plain text  "],
])("of %j, people see only %j", (text, seen) => expect(withoutTokens(text)).toBe(seen));

test("no partial token is visible while a text grows", () => {
  for (const [text, seen] of [
    ["NO_REPLY", /^$/],
    ["**HEARTBEAT_OK** all is quiet", /^[^HEARTBOK_]*$/],
    ["The build is red. NO_REPLY", /^[^_]*$/],
  ] as const)
    for (let length = 1; length <= text.length; length += 1)
      expect(withoutTokensSoFar(text.slice(0, length))).toMatch(seen);
  expect(withoutTokensSoFar("Nothing is new.")).toBe("Nothing is new.");
});

test("a reply with only a token is not sent; one with a file or other text is sent without the token", () => {
  const reply = (text: string, files: number) => ({
    text,
    media: Array.from({ length: files }, () => ({ path: "/a.png" })),
    buttons: [],
  });
  const spoken = (text: string, files = 0) => speakable(reply(text, files), { ackMaxChars: 10 }).text;
  expect(spoken("NO_REPLY")).toBe("NO_REPLY");
  expect(spoken("HEARTBEAT_OK fine")).toBe("HEARTBEAT_OK fine");
  expect(spoken("HEARTBEAT_OK but the build is red")).toBe("but the build is red");
  expect(spoken("NO_REPLY", 1)).toBe("");
  expect(spoken("HEARTBEAT_OK fine", 1)).toBe("fine");
});

test("a long reply is checked in moments, not minutes", async () => {
  const texts = [
    `${"<".repeat(200_000)}HEARTBEAT_OK`,
    "* ".repeat(200_000),
    `HEARTBEAT_OK ${"HEARTBEAT_OK ".repeat(20_000)}x`,
  ];
  const all = () => texts.map((text) => [silenceReason(text, { ackMaxChars: 300 }), withoutTokensSoFar(text)]);
  expect(await leastCostOf(all, { below: 2_000 })).toBeLessThan(2_000);
});
