import { describe, expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { definePreset, type PresetMapping } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { repeat, startGateway } from "../../support/gateway.ts";

const uptime = definePreset({
  id: "uptime",
  version: "1.0.0",
  host: "^0.1.0",
  path: "uptime",
  mappings: [{ name: "Uptime", messageTemplate: "{{ monitor }} is {{ status }}", sessionKey: "hook:uptime:{{ monitor }}", deliver: false }],
});

describe("a preset of a plugin", () => {
  test("is served when hooks.presets names it, and not otherwise", async () => {
    for (const [presets, status] of [[["uptime"], 202] as const, [[], 404] as const]) {
      const running = await startGateway({ config: { hooks: { enabled: true, token: "t", presets } }, plugins: [uptime, repeat] });
      const answer = await fetch(`${running.gateway.url}/hooks/uptime`, {
        method: "POST",
        headers: { authorization: "Bearer t", "content-type": "application/json" },
        body: '{"monitor":"site","status":"down"}',
      });
      expect(answer.status).toBe(status);
      await running.gateway.close();
      removeDirectory(running.directory);
    }
  });

  test("has its settings in hooks, in a key of its name", async () => {
    const hooks = {
      enabled: true,
      token: "hook-token-of-the-test",
      presets: ["uptime"],
      uptime: { model: "local/small", thinkign: "low" },
    };
    const running = await startGateway({ config: { hooks }, plugins: [uptime, repeat] });
    expect(running.gateway.config().hooks).toMatchObject({ uptime: { model: "local/small" } });
    expect((await running.gateway.describe()).problems).toMatchObject([
      { severity: "warning", path: "hooks.uptime.thinkign", hint: "Did you mean thinking?" },
    ]);
    await running.gateway.close();
    removeDirectory(running.directory);
  });

  test("of a name that another plugin has leaves its plugin out", async () => {
    const twin = { ...uptime, id: "twin" };
    const running = await startGateway({ plugins: [uptime, twin] });
    expect((await running.gateway.describe()).plugins).toMatchObject([
      { id: "uptime", state: "up" },
      { id: "twin", state: "failed", reason: expect.stringContaining("uptime") },
    ]);
    await running.gateway.close();
    removeDirectory(running.directory);
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
