import { describe, expect, test } from "vitest";
import { readTranscript, turnMessages } from "../../../core/agents/conversation/transcript.ts";
import { chooseModels } from "../../../core/agents/turn/models.ts";
import { agentSettings } from "../../../core/config/agents.ts";
import { resolveModel } from "../../../core/config/model-names.ts";
import type { Reply } from "../../../core/contract/types.ts";
import { renderReasoning, showReasoning } from "../../../core/reply/reasoning.ts";
import { message, route } from "./inbound.ts";

const reply = (text: string, more: Partial<Reply> = {}): Reply => ({ text, media: [], buttons: [], ...more });

describe("the transcript entry of a turn", () => {
  test("is the message in its envelope and the reply, both marked with their unit", () => {
    const [asked, said] = turnMessages({ inbound: message("hello"), reply: reply("hi"), at: 9 });
    expect(asked).toEqual({
      role: "user",
      content: "[irc Ada (@ada) id:42 Fri 2026-11-20 14:09 UTC] hello",
      at: message("").timestamp,
      unitId: "event-1",
    });
    expect(said).toEqual({ role: "assistant", content: "hi", at: 9, unitId: "event-1" });
  });

  test("has a note for each sent file, and an empty reply leaves nothing", () => {
    const sent = reply("", { media: [{ url: "https://example.com/a.png", fileName: "a.png" }] });
    expect(turnMessages({ inbound: message("x"), reply: sent, at: 0 })[1]?.content).toBe("[sent a.png]");
    expect(turnMessages({ inbound: message("x"), reply: reply(""), at: 0 })).toHaveLength(1);
  });

  test("is not written for a heartbeat that had nothing to say", () => {
    const inbound = message("tick", { authority: "operator", request: { heartbeat: { events: [], scheduled: true } } });
    expect(turnMessages({ inbound, reply: reply("HEARTBEAT_OK"), at: 0 })).toEqual([]);
    expect(turnMessages({ inbound, reply: reply("The disk is full."), at: 0 })).toHaveLength(2);
  });

  test("is read back without earlier entries of the same unit and without entries that have no text", () => {
    const read = readTranscript(
      [
        { role: "user", content: "a", at: 0, unitId: "event-0" },
        { role: "assistant", content: [{ type: "text", text: "b" }, { type: "image" }], at: 0 },
        { role: "assistant", content: { type: "image" }, at: 0 },
        { role: "user", content: "again", at: 0, unitId: "event-1" },
      ],
      "event-1",
    );
    expect(read).toEqual([
      { role: "user", text: "a" },
      { role: "assistant", text: "b" },
    ]);
  });
});

describe("reasoning", () => {
  const store = (reasoning?: string) => ({
    session: async (key: string) => ({
      key,
      agentId: "main",
      generation: 1,
      settings: (reasoning === undefined ? {} : { reasoning }) as Readonly<Record<string, string>>,
      updatedAt: 0,
    }),
  });
  const thought = reply("Four.", { reasoning: "two\nand two" });

  test("is quoted before the reply only in sessions that asked for it", async () => {
    const shown = await showReasoning(thought, route(), { store: store("on"), ackMaxChars: 300 });
    expect(shown?.text).toBe("> *Thinking*\n> two\n> and two\n\nFour.");
    for (const mode of [undefined, "off", "stream"]) {
      expect(await showReasoning(thought, route(), { store: store(mode), ackMaxChars: 300 })).toBeUndefined();
    }
  });

  test("does not turn a silent reply into a visible one", async () => {
    const silent = reply("NO_REPLY", { reasoning: "nothing to say" });
    expect(await showReasoning(silent, route(), { store: store("on"), ackMaxChars: 300 })).toBeUndefined();
  });

  test("is not sent back to the model in the next turn", async () => {
    const shown = await showReasoning(thought, route(), { store: store("on"), ackMaxChars: 300 });
    expect(turnMessages({ inbound: message("2+2?"), reply: shown ?? thought, at: 0 })[1]?.content).toBe("Four.");
  });

  test("is cut at 2,000 characters", () => {
    expect([...renderReasoning("👍".repeat(3_000))].length).toBeLessThan(2_050);
  });
});

describe("model names", () => {
  const table = { "a/one": { alias: "fast" }, "b/two/x:7b": {} };
  test.each([
    ["fast", table, "a/one"],
    [" FAST ", table, "a/one"],
    ["A/One", table, "a/one"],
    ["b/two/x:7b", table, "b/two/x:7b"],
    ["c/three", table, undefined],
    ["c/three", undefined, "c/three"],
    ["c/three", ["c/three"], "c/three"],
    ["three", undefined, undefined],
    ["a/b c", undefined, undefined],
    ["", undefined, undefined],
    ["constructor", table, undefined],
  ])("%j", (name, models, expected) => {
    expect(resolveModel(name, models)).toBe(expected);
  });

  test("the operator's own model may be missing from the list of models that others may choose", () => {
    const agent = agentSettings({ agents: { defaults: { model: "z/own", models: table } } }, "main");
    expect(chooseModels(agent, undefined)).toEqual({ model: "z/own", fallbacks: [] });
    expect(() => chooseModels(agent, "y/other")).toThrow("The model y/other is not configured");
  });
});
