import { createTestHost } from "service-gateway/testkit";
import { describe, expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { definePreset, type PresetMapping } from "../../../core/sdk/contract.ts";

const uptime = definePreset({
  id: "uptime",
  version: "1.0.0",
  host: "^0.1.0",
  path: "uptime",
  mappings: [{ name: "Uptime", messageTemplate: "{{ monitor }} is {{ status }}", sessionKey: "hook:uptime:{{ monitor }}", deliver: false }],
});

describe("a preset of a plugin", () => {
  test("is served when hooks.presets names it, and not otherwise", async () => {
    await using host = await createTestHost({ plugins: [uptime], config: { hooks: { presets: ["uptime"] } } });
    expect((await host.deliver("uptime", { monitor: "site", status: "down" })).status).toBe(202);
    await host.configure({ hooks: { presets: [] } });
    expect((await host.deliver("uptime", { monitor: "site", status: "down" })).status).toBe(404);
  });

  test("has its settings in hooks, in a key of its name", async () => {
    const hooks = { presets: ["uptime"], uptime: { model: "local/small", thinkign: "low" } };
    await using host = await createTestHost({ plugins: [uptime], config: { hooks } });
    const { gateway } = (await (await host.fetch("/gateway/describe")).json()) as {
      readonly gateway: { readonly problems: readonly object[] };
    };
    expect(gateway.problems).toMatchObject([{ severity: "warning", path: "hooks.uptime.thinkign", hint: "Did you mean thinking?" }]);
  });

  test("of a name that another plugin has leaves its plugin out", async () => {
    const twin = { ...uptime, id: "twin" };
    await expect(createTestHost({ plugins: [uptime, twin] })).rejects.toThrow(/^The test host did not start:\n- .*twin.*uptime/);
  });

  test.each<[rule: string, mapping: object, words: string]>([
    ["a template that does not parse", { messageTemplate: "{{ x" }, "mappings[0].messageTemplate"],
    ["a field that there is not", { mesageTemplate: "x" }, "mappings[0].mesageTemplate"],
    ["a value of a wrong type", { messageTemplate: "x", status: 418 }, "mappings[0].status"],
    ["a choice that only the user has", { messageTemplate: "x", signature: { scheme: "github", secret: "x" } }, "mappings[0].signature"],
  ])("with %s is refused with its reason", (_rule, mapping, words) => {
    const wrong = definePreset({ id: "wrong", version: "1.0.0", host: "^0.1.0", path: "wrong", mappings: [mapping as PresetMapping] });
    expect(() => checkDeclaration("wrong", wrong)).toThrow(words);
  });

  test("without mappings, a path or a proper id is refused", () => {
    const base = { id: "p", version: "1.0.0", host: "^0.1.0", setup() {} };
    for (const presets of [
      {},
      [{}],
      [{ id: "A b", path: "x", mappings: [] }],
      [{ id: "x", mappings: [{}] }],
      [{ id: "x", path: "x", mappings: [] }],
    ]) {
      expect(() => checkDeclaration("p", { ...base, presets }), JSON.stringify(presets)).toThrow(/preset/);
    }
  });
});
