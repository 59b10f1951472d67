import { describe, expect, test } from "vitest";
import { actInPanel, readPanels } from "../../../core/gateway/console/panels.ts";
import type { PanelDefinition, PanelEntry } from "../../../core/sdk/contract.ts";

const entry: PanelEntry = { id: "one", title: "One", state: { word: "ok", tone: "good" }, acts: ["go"], version: "1" };
const presses: unknown[] = [];
const panel = (entries: unknown, more: Partial<PanelDefinition> = {}) => ({
  plugin: "guest",
  definition: {
    ...{ id: "things", title: "Things", empty: "None." },
    entries: () => entries as readonly PanelEntry[],
    acts: {
      go: {
        label: "Go",
        role: "operate" as const,
        run: (pressed: object) => {
          presses.push(pressed);
          return { ok: true, text: "Gone." };
        },
      },
    },
    ...more,
  },
});
const press = { plugin: "guest", panel: "things", act: "go", entry: "one", version: "1" };

describe("the panels of plugins", () => {
  test("an entry names the acts that are possible, and unknown ones are left out", async () => {
    const [shown] = await readPanels([panel([{ ...entry, acts: ["go", "constructor", "toString"] }])]);
    expect(shown?.entries[0]?.acts).toEqual([{ name: "go", label: "Go", role: "operate" }]);
  });

  test.each<[string, unknown, string]>([
    ["no list", "all", "not a list"],
    ["an entry without an id", [{ title: "A" }], "no id"],
    ["an entry without a title", [{ ...entry, title: 1 }], "the entry one has no title"],
    ["a tone that is none", [{ ...entry, state: { word: "ok", tone: "green" } }], "no state with a word and a tone"],
    ["facts that are no texts", [{ ...entry, facts: { a: 1 } }], "facts of the entry one must be texts"],
  ])("a plugin that returns %s is blamed, and the others are shown", async (_, entries, problem) => {
    const [faulty, fine] = await readPanels([panel(entries), { ...panel([entry]), plugin: "other" }]);
    expect(faulty).toMatchObject({ plugin: "guest", entries: [], problem: expect.stringMatching(problem) });
    expect(faulty?.problem).toContain("guest");
    expect(fine).toMatchObject({ plugin: "other", entries: [{ id: "one" }] });
  });

  test("only panels whose entries may wait are asked for those that do", async () => {
    const silent = panel([entry], {
      entries: () => {
        throw new Error("it was asked");
      },
    });
    const waits = panel([entry, { ...entry, id: "two", waits: "It waits." }], { mayWait: true });
    const shown = await readPanels([silent, waits], { onlyWaiting: true });
    expect(shown.map(({ entries }) => entries.map(({ id }) => id))).toEqual([["two"]]);
  });

  test.each<[string, Partial<typeof press>, Partial<PanelEntry>, string]>([
    ["of another version", { version: "2" }, {}, "has changed since it was shown"],
    ["without a version", { version: undefined }, {}, "has changed since it was shown"],
    ["that is gone", { entry: "two" }, {}, "is not there any more"],
    ["whose act is not possible now", {}, { acts: [] }, "is not possible any more"],
    ["by an unknown act", { act: "constructor" }, {}, "There is no such act"],
    ["of another plugin", { plugin: "other" }, {}, "There is no such act"],
  ])("an entry %s is not acted on", async (_, pressed, now, reason) => {
    presses.length = 0;
    await expect(actInPanel([panel([{ ...entry, ...now }])], { ...press, ...pressed })).rejects.toThrow(reason);
    expect(presses).toEqual([]);
  });

  test("an act is called with what was shown, and an unusable answer blames the plugin", async () => {
    presses.length = 0;
    const found = await actInPanel([panel([entry])], press);
    expect([found.role, found.title, presses]).toEqual(["operate", "One", []]);
    expect(await found.run()).toEqual({ ok: true, text: "Gone." });
    expect(presses).toEqual([{ id: "one", version: "1" }]);
    const acts = { go: { label: "Go", role: "admin" as const, run: () => "done" as never } };
    const wrong = await actInPanel([panel([entry], { acts })], press);
    await expect(wrong.run()).rejects.toThrow("guest");
  });
});
