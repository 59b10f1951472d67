import { writeFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { definePlugin, type Json, type PluginDefinition, type PluginHost } from "../../../core/sdk/contract.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, startGateway, type TestGateway } from "../../support/gateway.ts";

let running: TestGateway | undefined;

afterEach(async () => {
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

/** A plugin with the preset `letter`, and what it was handed. */
function createPostman(setup: (host: PluginHost) => void = () => {}) {
  let handed: PluginHost | undefined;
  const plugin: PluginDefinition = definePlugin({
    id: "postman",
    version: "1.0.0",
    host: "^0.1.0",
    presets: [{ id: "letter", path: "letter", mappings: [{ name: "Letter", messageTemplate: "{{ text }}", deliver: false }] }],
    setup(host) {
      handed = host;
      setup(host);
    },
  });
  return { plugin, host: () => handed as PluginHost };
}

async function start(hooks: object, postman = createPostman()) {
  const asked: string[] = [];
  const engine = createEngine(({ messages, inbound }) => {
    if (inbound.kind !== "hook") return "HEARTBEAT_OK";
    asked.push(messages.at(-1)?.text ?? "");
    return "read";
  });
  running = await startGateway({
    config: { hooks: { enabled: true, token: "hook-token-of-the-test", ...hooks } },
    plugins: [postman.plugin, engine],
  });
  return { ...running, asked, host: postman.host() };
}

const letter = (text: string): Json => ({ text });

describe("a delivery that a plugin hands in", () => {
  test("runs by the mapping at its path, once for each key, and says how it came", async () => {
    const { host, asked, settled, gateway } = await start({ presets: ["letter"] });
    const first = await host.hook("letter", letter("Dear gateway"), { key: "1" });
    expect(first.duplicate).toBe(false);
    expect(await settled(first.eventId)).toMatchObject({ outcome: "silent" });
    expect(await host.hook("/letter/", letter("Dear gateway"), { key: "1" })).toEqual({ eventId: first.eventId, duplicate: true });
    const other = await host.hook("letter", letter("Once more"), { key: "2" });
    await settled(other.eventId);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("Dear gateway");
    expect(asked[0]).toContain("<<<external-content");
    const clash = await fetch(`${gateway.url}/hooks/letter`, {
      method: "POST",
      headers: { authorization: "Bearer hook-token-of-the-test", "content-type": "application/json", "idempotency-key": "1" },
      body: '{"text":"from elsewhere"}',
    });
    expect(clash.status, "a key of a plugin is not one of the clients").toBe(202);
  });

  test("tells the agent of its sender in one line, before the content", async () => {
    const { host, asked, settled } = await start({ presets: ["letter"] });
    const { eventId } = await host.hook("letter", letter("Pay me"), { key: "1", origin: "The sender is not\nverified." });
    await settled(eventId);
    expect(asked[0]?.indexOf("The sender is not verified.\n\n")).toBe(0);
    expect(asked[0]?.indexOf("The sender is not verified.")).toBeLessThan(asked[0]?.indexOf("Pay me") ?? 0);
    expect(asked[0]?.indexOf("The sender is not verified.")).toBeLessThan(asked[0]?.indexOf("<<<external-content") ?? 0);
  });

  test.each<[why: string, hooks: object, path: string]>([
    ["no mapping has its path", { presets: ["letter"] }, "parcel"],
    ["the preset is not switched on", {}, "letter"],
    [
      "the mapping asks for a signature",
      {
        mappings: [{ match: { path: "letter" }, messageTemplate: "x", signature: { scheme: "github", secret: "secret-of-the-test-here" } }],
      },
      "letter",
    ],
  ])("is refused as not found when %s", async (_, hooks, path) => {
    const { host } = await start(hooks);
    await expect(host.hook(path, letter("x"), { key: "1" })).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  test("is refused for now before the gateway is up", async () => {
    const answers: unknown[] = [];
    await start(
      { presets: ["letter"] },
      createPostman((host) => void host.hook("letter", letter("x"), { key: "1" }).catch((error) => answers.push(error))),
    );
    await vi.waitFor(() => expect(answers).toMatchObject([{ code: "unavailable", status: 503 }]));
  });

  test("leaves out a secret of the configuration, also in what is said of the sender", async () => {
    const { host, asked, settled, gateway } = await start({ presets: ["letter"] });
    const { eventId } = await host.hook("letter", letter("it is hook-token-of-the-test"), {
      key: "1",
      origin: "From hook-token-of-the-test",
    });
    await settled(eventId);
    expect(asked[0]).not.toContain("hook-token-of-the-test");
    expect(JSON.stringify(await gateway.describe())).not.toContain("hook-token-of-the-test");
  });
});

describe("how a delivery ended", () => {
  test("is known to the plugin that handed it in, with the reply where it asked to keep that", async () => {
    const { host, settled } = await start({ presets: ["letter"] });
    const kept = await host.hook("letter", letter("Dear gateway"), { key: "1", keepReply: true });
    const plain = await host.hook("letter", letter("Dear gateway"), { key: "2" });
    await Promise.all([settled(kept.eventId), settled(plain.eventId)]);
    const ended = { ended: true, outcome: "silent", reason: "not_asked" };
    expect(await host.hookResult(kept.eventId)).toEqual({ ...ended, reply: "read" });
    expect(await host.hookResult(plain.eventId)).toEqual(ended);
  });

  test("is nothing that a plugin learns of other events", async () => {
    const { host, settled, gateway } = await start({ presets: ["letter"], exposeReplies: true });
    const response = await fetch(`${gateway.url}/hooks/letter`, {
      method: "POST",
      headers: { authorization: "Bearer hook-token-of-the-test", "content-type": "application/json" },
      body: '{"text":"from elsewhere"}',
    });
    const { eventId } = (await response.json()) as { readonly eventId: string };
    await settled(eventId);
    expect(await host.hookResult(eventId)).toBeUndefined();
    expect(await host.hookResult("nothing")).toBeUndefined();
  });

  test("has no reply when the agent wants to say nothing", async () => {
    const postman = createPostman();
    const engine = createEngine(({ inbound }) => (inbound.kind === "hook" ? "NO_REPLY" : "HEARTBEAT_OK"));
    const hooks = { enabled: true, token: "hook-token-of-the-test", presets: ["letter"] };
    running = await startGateway({ config: { hooks }, plugins: [postman.plugin, engine] });
    const { eventId } = await postman.host().hook("letter", letter("Dear gateway"), { key: "1", keepReply: true });
    await running.settled(eventId);
    expect(await postman.host().hookResult(eventId)).toEqual({ ended: true, outcome: "silent", reason: "no_reply" });
  });
});

describe("the section of a preset", () => {
  test("is read as it is now, with its secrets", async () => {
    const changes: Json[] = [];
    let section: ReturnType<PluginHost["preset"]> | undefined;
    const postman = createPostman((host) => {
      section = host.preset("letter");
      section.onChange(() => changes.push(section?.settings() ?? null));
    });
    const hooks = { enabled: true, token: "hook-token-of-the-test", presets: ["letter"] };
    const { host, configFile } = await start({ ...hooks, letter: { thinking: "low" } }, postman);
    expect(section?.settings()).toMatchObject({ thinking: "low" });
    const edit = (next: object) =>
      writeFileSync(configFile, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, hooks: { ...hooks, ...next } }));
    edit({ letter: { thinking: "high" } });
    await vi.waitFor(() => expect(changes.at(-1)).toMatchObject({ thinking: "high" }), { timeout: 5_000 });
    edit({ letter: { thinking: "high" }, enabled: false });
    await vi.waitFor(() => expect(changes.at(-1)).toBeNull(), { timeout: 5_000 });
    expect(section?.secret("plain", "accounts.ada.password")).toBe("plain");
    expect(() => section?.secret({ env: "NOT_THERE" }, "accounts.ada.password")).toThrow(/hooks\.letter\.accounts\.ada\.password/);
    expect(() => host.preset("letter")).toThrow(/after setup/);
  });

  test("of another plugin is not handed out", async () => {
    const postman = createPostman((host) => void host.preset("gmail"));
    const { gateway } = await start({}, postman);
    expect((await gateway.describe()).plugins).toMatchObject([
      { id: "postman", state: "failed", reason: expect.stringContaining("no preset gmail") },
      {},
    ]);
  });
});
