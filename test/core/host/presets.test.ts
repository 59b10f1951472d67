import { createHmac } from "node:crypto";
import { createTestHost } from "service-gateway/testkit";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";
import { definePreset, type PresetMapping } from "../../../core/sdk/contract.ts";

const uptime = definePreset({
  id: "uptime",
  version: "1.0.0",
  host: "^0.2.0",
  path: "uptime",
  mappings: [
    {
      name: "Uptime",
      messageTemplate: "{{ monitor }} is {{ status }}",
      sessionKey: "hook:uptime:{{ monitor }}",
      deliver: false,
    },
  ],
});

describe("a plugin's preset", () => {
  test("is served only if hooks.presets names it", async () => {
    await using host = await createTestHost({ plugins: [uptime], config: { hooks: { presets: ["uptime"] } } });
    expect((await host.deliver("uptime", { monitor: "site", status: "down" })).status).toBe(202);
    await host.configure({ hooks: { presets: [] } });
    expect((await host.deliver("uptime", { monitor: "site", status: "down" })).status).toBe(404);
  });

  test("has its settings in hooks, under its own name", async () => {
    const hooks = { presets: ["uptime"], uptime: { model: "local/small", thinkign: "low" } };
    await using host = await createTestHost({ plugins: [uptime], config: { hooks } });
    expect(await host.problems()).toMatchObject([
      { severity: "warning", path: "hooks.uptime.thinkign", hint: "Did you mean thinking?" },
    ]);
  });

  test("can declare settings of its own, which are checked like its other settings", async () => {
    const feed = definePreset({
      ...uptime,
      path: "uptime",
      mappings: [{ messageTemplate: "{{ monitor }} is down" }],
      settings: Type.Object({ feed: Type.Optional(Type.String()) }),
    });
    const hooks = { presets: ["uptime"], uptime: { feed: "all" } };
    await using host = await createTestHost({
      plugins: [feed],
      config: { hooks },
      allowErrors: [/were rejected|hooks\.uptime\.feed/],
    });
    expect(await host.problems()).toEqual([]);
    await expect(host.configure({ hooks: { uptime: { feed: 7 } } })).rejects.toThrow("hooks.uptime.feed");
  });

  test("runs the agent and replies where its settings say, before any user has written to the bot", async () => {
    const alerts = definePreset({
      ...uptime,
      id: "alerts",
      path: "alerts",
      mappings: [{ messageTemplate: "{{ monitor }} is down" }],
    });
    const hooks = { presets: ["alerts"], alerts: { agentId: "ops", channel: "loopback", to: "{{ team }}" } };
    const agents = { list: [{ id: "main", default: true }, { id: "ops" }] };
    await using host = await createTestHost({
      plugins: [alerts],
      config: { hooks, agents },
      allowErrors: [/hooks\.alerts\.channel|were rejected/],
    });
    const { ended } = await host.deliver("alerts", { monitor: "site", team: "ada" });
    expect(ended).toMatchObject([{ outcome: "answered", agentId: "ops" }]);
    expect(host).toHaveDelivered("site is down", { chat: "ada" });
    await expect(host.configure({ hooks: { alerts: { channel: "pigeon" } } })).rejects.toThrow(
      "hooks.alerts.channel: the preset alerts:",
    );
  });

  describe("with a signing sender", () => {
    const secret = "signing-secret-of-the-monitor";
    const body = '{"monitor":"site","status":"down"}';
    const signed = (text: string) => ({
      "x-uptime-signature": createHmac("sha256", secret).update(text).digest("hex"),
    });
    const settings = { scheme: "hmac", header: "X-Uptime-Signature", secret };

    test("accepts only deliveries signed as its settings require, not the hook token", async () => {
      const hooks = { presets: ["uptime"], uptime: { signature: settings } };
      await using host = await createTestHost({ plugins: [uptime], config: { hooks } });
      expect((await host.deliver("uptime", body, { headers: signed(body) })).status).toBe(202);
      expect(await host.deliver("uptime", body, { headers: signed("{}") })).toMatchObject({
        status: 401,
        body: { code: "signature_invalid" },
      });
      expect((await host.deliver("uptime", body)).status).toBe(401);
      expect(await host.problems()).toEqual([]);
    });

    test.each<[mistake: string, signature: object, place: string, status: number, wake: number]>([
      // A value of a wrong type or name in the section of a preset switches the hooks off, as everywhere in `hooks`.
      ["an unknown scheme", { ...settings, scheme: "hmca" }, "hooks.uptime.signature.scheme", 404, 404],
      ["no secret", { scheme: "hmac", header: "X-Uptime-Signature" }, "hooks.uptime.signature", 503, 200],
      [
        "a secret that cannot be read",
        { ...settings, secret: { env: "NOWHERE" } },
        "hooks.uptime.signature.secret",
        503,
        200,
      ],
      ["a header that is missing", { scheme: "hmac", secret }, "hooks.uptime.signature.header", 503, 200],
    ])(
      "is closed with %s, also to the hook token, and the problem names the path",
      async (_, signature, place, status, wake) => {
        const config = { hooks: { presets: ["uptime"], uptime: { signature } } };
        await using host = await createTestHost({
          plugins: [uptime],
          config,
          allowErrors: [/hooks\.uptime\.signature/],
        });
        expect(await host.problems()).toMatchObject([{ severity: "error", path: expect.stringContaining(place) }]);
        expect((await host.deliver("uptime", body)).status).toBe(status);
        expect((await host.deliver("uptime", body, { headers: signed(body) })).status).toBe(status);
        expect((await host.deliver("wake", { text: "up" })).status).toBe(wake);
      },
    );
  });

  test("with another plugin's preset name leaves its own plugin out", async () => {
    const twin = { ...uptime, id: "twin" };
    await expect(createTestHost({ plugins: [uptime, twin] })).rejects.toThrow(
      /^The test host did not start:\n- .*twin.*uptime/,
    );
  });

  test.each<[rule: string, mapping: object, words: string]>([
    ["a template that does not parse", { messageTemplate: "{{ x" }, "mappings[0].messageTemplate"],
    ["an unknown field", { mesageTemplate: "x" }, "mappings[0].mesageTemplate"],
    ["a value of a wrong type", { messageTemplate: "x", status: 418 }, "mappings[0].status"],
    [
      "a choice that only the user has",
      { messageTemplate: "x", signature: { scheme: "github", secret: "x" } },
      "mappings[0].signature",
    ],
  ])("with %s is rejected with the reason", (_rule, mapping, words) => {
    const wrong = definePreset({
      id: "wrong",
      version: "1.0.0",
      host: "^0.2.0",
      path: "wrong",
      mappings: [mapping as PresetMapping],
    });
    expect(() => checkDeclaration("wrong", wrong)).toThrow(words);
  });

  test("without mappings, a path or a valid id is rejected", () => {
    const base = { id: "p", version: "1.0.0", host: "^0.2.0", setup() {} };
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
