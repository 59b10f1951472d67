import { expect, test } from "vitest";
import { createActivation } from "../../../core/agents/commands/activation.ts";

test("the activation moves with a session whose key changes", async () => {
  const activation = createActivation({});
  await activation.set("agent:main:irc:group:1", "always");
  activation.move("agent:main:irc:group:1", "agent:main:irc:group:2");
  activation.move("agent:main:irc:group:9", "agent:main:irc:group:2");
  expect(activation.of("agent:main:irc:group:1")).toBeUndefined();
  expect(activation.of("agent:main:irc:group:2")).toBe("always");
});

test("the activation of only the newest ten thousand sessions is kept", async () => {
  const activation = createActivation({});
  for (let index = 0; index <= 10_000; index += 1) await activation.set(`session:${index}`, "mention");
  expect(activation.of("session:0")).toBeUndefined();
  expect(activation.of("session:1")).toBe("mention");
  expect(activation.of("session:10000")).toBe("mention");
});
