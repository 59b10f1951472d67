import { expect, test } from "vitest";
import { createFactsOfAnswers } from "../../../core/agents/turn/answer-facts.ts";
import { withPrefix } from "../../../core/agents/turn/response-prefix.ts";
import type { Reply } from "../../../core/contract/types.ts";
import { Visit } from "../../../core/stations/visit.ts";
import { message, route } from "./inbound.ts";

const reply = (text: string): Reply => ({ text, media: [], buttons: [] });

function sent(
  text: string,
  prefix: unknown,
  inbound = message("hi"),
  more: { readonly answered?: string; readonly noted?: boolean; readonly configured?: boolean } = {},
): string {
  const { answered, noted = true, configured = true } = more;
  const chosen = configured ? ({ model: { primary: "acme/small" }, thinking: "high" } as const) : {};
  const settings = (agentId: string) => ({ identity: agentId === "main" ? { name: "Otto" } : {}, ...chosen });
  const facts = createFactsOfAnswers({ settings });
  const visit = new Visit();
  if (noted && inbound.kind === "message") facts.note({ model: "acme/large/v2", thinking: "low" }, visit);
  const usage = answered === undefined ? {} : { usage: { inputTokens: 1, outputTokens: 1, model: answered } };
  return withPrefix({ ...reply(text), ...usage }, prefix, { inbound, route: route(), visit }, facts).text;
}

test.each([
  ["[bot]", "hello", "[bot] hello"],
  ["[bot] ", "hello", "[bot] hello"],
  ["Bot:\n", "hello", "Bot:\nhello"],
  ["{{AgentId}} to {{SenderName}}:", "hello", "main to Ada: hello"],
  ["[bot]", "```js\n1\n```", "[bot]\n\n```js\n1\n```"],
  ["[bot]", "- one\n- two", "[bot]\n\n- one\n- two"],
  ["[bot]", "# Title", "[bot]\n\n# Title"],
  ["[bot]", "| a |\n|---|", "[bot]\n\n| a |\n|---|"],
  ["[bot]", "-5 degrees", "[bot] -5 degrees"],
])("%j before %j gives %j", (prefix, text, whole) => expect(sent(text, prefix)).toBe(whole));

test("nothing is prefixed to an empty text or a deliver-only message, and an empty prefix adds nothing", () => {
  expect(sent("", "[bot]")).toBe("");
  expect(sent("hello", undefined)).toBe("hello");
  expect(sent("hello", " ")).toBe("hello");
  expect(sent("hello", "{{MessageThreadId}}")).toBe("hello");
  expect(sent("hello", "[bot]", message("hello", { request: { deliverOnly: true } }))).toBe("hello");
});

test.each([
  ["{model}", "large/v2 hello"],
  ["{modelFull}", "acme/large/v2 hello"],
  ["{provider}", "acme hello"],
  ["{thinkingLevel} {think}", "low low hello"],
  ["{identity.name}/{identityName}", "Otto/Otto hello"],
  ["[{MODEL} { Provider }]", "[large/v2 acme] hello"],
  ["{unknown} {{model}} {", "{unknown} {{model}} { hello"],
  ["{{SenderName}}", "{model} hello"],
])("%j expands to %j", (prefix, whole) => {
  expect(sent("hello", prefix, message("hi", { sender: { id: "1", name: "{model}" } }))).toBe(whole);
});

test("the prefix names the model that answered, even if it replaced the chosen one", () => {
  expect(sent("hello", "{modelFull}", message("hi"), { answered: "spare/small" })).toBe("spare/small hello");
});

test("a reply without a turn, such as a command's, uses the model of its agent, or none if none is configured", () => {
  const command = message("hi", { kind: "press" });
  expect(sent("hello", "{model} {thinkingLevel} {identity.name}", command)).toBe("small high Otto hello");
  expect(sent("hello", "{model}", message("hi"), { noted: false })).toBe("small hello");
  expect(sent("hello", "[{model}] {unknown}", command, { configured: false })).toBe("[] {unknown} hello");
  expect(sent("hello", "{model}", command, { configured: false })).toBe("hello");
});
