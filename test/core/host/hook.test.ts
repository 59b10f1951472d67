import { createTestHost } from "service-gateway/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { definePlugin, type Json, type PluginDefinition, type PluginHost } from "../../../core/sdk/contract.ts";

/** A plugin with the preset `letter`, and what it was handed. */
function createPostman(setup: (host: PluginHost) => void = () => {}) {
  let handed: PluginHost | undefined;
  const plugin: PluginDefinition = definePlugin({
    id: "postman",
    version: "1.0.0",
    host: "^0.2.0",
    presets: [
      { id: "letter", path: "letter", mappings: [{ name: "Letter", messageTemplate: "{{ text }}", deliver: false }] },
    ],
    setup(host) {
      handed = host;
      setup(host);
    },
  });
  return { plugin, host: () => handed as PluginHost };
}

const token = "hook-token-of-the-test";

async function start(hooks: object, postman = createPostman()) {
  const asked: string[] = [];
  const gateway = await createTestHost({
    config: { hooks: { token, ...hooks } },
    plugins: [postman.plugin],
    answer({ messages, inbound }) {
      if (inbound.kind !== "hook") return "HEARTBEAT_OK";
      asked.push(messages.at(-1)?.text ?? "");
      return "read";
    },
  });
  onTestFinished(() => gateway.close());
  return { gateway, settled: gateway.settled, asked, host: postman.host() };
}

const letter = (text: string): Json => ({ text });

describe("a delivery that a plugin submits", () => {
  test("runs through the mapping at its path once per key, and its source is recorded", async () => {
    const { host, asked, settled, gateway } = await start({ presets: ["letter"] });
    const first = await host.hook("letter", letter("Dear gateway"), { key: "1" });
    expect(first.duplicate).toBe(false);
    expect(await settled(first.eventId)).toMatchObject({ outcome: "silent" });
    expect(await host.hook("/letter/", letter("Dear gateway"), { key: "1" })).toEqual({
      eventId: first.eventId,
      duplicate: true,
    });
    const other = await host.hook("letter", letter("Once more"), { key: "2" });
    await settled(other.eventId);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("Dear gateway");
    expect(asked[0]).toContain("<<<external-content");
    const clash = await gateway.deliver("letter", { text: "from elsewhere" }, { headers: { "idempotency-key": "1" } });
    expect(clash.status, "a key of a plugin is not one of the clients").toBe(202);
  });

  test("states its sender to the agent in one line before the content", async () => {
    const { host, asked, settled } = await start({ presets: ["letter"] });
    const { eventId } = await host.hook("letter", letter("Pay me"), {
      key: "1",
      origin: "The sender is not\nverified.",
    });
    await settled(eventId);
    expect(asked[0]?.indexOf("The sender is not verified.\n\n")).toBe(0);
    expect(asked[0]?.indexOf("The sender is not verified.")).toBeLessThan(asked[0]?.indexOf("Pay me") ?? 0);
    expect(asked[0]?.indexOf("The sender is not verified.")).toBeLessThan(
      asked[0]?.indexOf("<<<external-content") ?? 0,
    );
  });

  test.each<[why: string, hooks: object, path: string]>([
    ["no mapping has its path", { presets: ["letter"] }, "parcel"],
    ["the preset is not switched on", {}, "letter"],
    [
      "the mapping asks for a signature",
      {
        mappings: [
          {
            match: { path: "letter" },
            messageTemplate: "x",
            signature: { scheme: "github", secret: "secret-of-the-test-here" },
          },
        ],
      },
      "letter",
    ],
  ])("is rejected as not found if %s", async (_, hooks, path) => {
    const { host } = await start(hooks);
    await expect(host.hook(path, letter("x"), { key: "1" })).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  test("is rejected temporarily until the gateway is up", async () => {
    const answers: unknown[] = [];
    await start(
      { presets: ["letter"] },
      createPostman(
        (host) => void host.hook("letter", letter("x"), { key: "1" }).catch((error) => answers.push(error)),
      ),
    );
    await vi.waitFor(() => expect(answers).toMatchObject([{ code: "unavailable", status: 503 }]), 60_000);
  });

  test("has configured secrets removed, also from the description of its sender", async () => {
    const { host, asked, settled, gateway } = await start({ presets: ["letter"] });
    const { eventId } = await host.hook("letter", letter("it is hook-token-of-the-test"), {
      key: "1",
      origin: "From hook-token-of-the-test",
    });
    await settled(eventId);
    expect(asked[0]).not.toContain("hook-token-of-the-test");
    expect(await (await gateway.fetch("/gateway/describe")).text()).not.toContain("hook-token-of-the-test");
  });
});

describe("the outcome of a delivery", () => {
  test("is available to the plugin that submitted it, with the reply if requested", async () => {
    const { host, settled } = await start({ presets: ["letter"] });
    const kept = await host.hook("letter", letter("Dear gateway"), { key: "1", keepReply: true });
    const plain = await host.hook("letter", letter("Dear gateway"), { key: "2" });
    await Promise.all([settled(kept.eventId), settled(plain.eventId)]);
    const ended = { ended: true, outcome: "silent", reason: "not_asked" };
    expect(await host.hookResult(kept.eventId)).toEqual({ ...ended, reply: "read" });
    expect(await host.hookResult(plain.eventId)).toEqual(ended);
  });

  test("is not available to a plugin for other events", async () => {
    const { host, gateway } = await start({ presets: ["letter"], exposeReplies: true });
    const { body } = await gateway.deliver("letter", { text: "from elsewhere" });
    expect(await host.hookResult((body as { readonly eventId: string }).eventId)).toBeUndefined();
    expect(await host.hookResult("nothing")).toBeUndefined();
  });

  test("has no reply if the agent chooses silence", async () => {
    const postman = createPostman();
    await using gateway = await createTestHost({
      config: { hooks: { presets: ["letter"] } },
      plugins: [postman.plugin],
      answer: ({ inbound }) => (inbound.kind === "hook" ? "NO_REPLY" : "HEARTBEAT_OK"),
    });
    const { eventId } = await postman.host().hook("letter", letter("Dear gateway"), { key: "1", keepReply: true });
    await gateway.settled(eventId);
    expect(await postman.host().hookResult(eventId)).toEqual({ ended: true, outcome: "silent", reason: "no_reply" });
  });
});

describe("the settings of a preset", () => {
  test("are read as they are now, with their secrets", async () => {
    const changes: Json[] = [];
    let section: ReturnType<PluginHost["preset"]> | undefined;
    const postman = createPostman((host) => {
      section = host.preset("letter");
      section.onChange(() => changes.push(section?.settings() ?? null));
    });
    const { host, gateway } = await start({ presets: ["letter"], letter: { thinking: "low" } }, postman);
    expect(section?.settings()).toMatchObject({ thinking: "low" });
    await gateway.configure({ hooks: { letter: { thinking: "high" } } });
    await vi.waitFor(() => expect(changes.at(-1)).toMatchObject({ thinking: "high" }), { timeout: 60_000 });
    await gateway.configure({ hooks: { enabled: false } });
    await vi.waitFor(() => expect(changes.at(-1)).toBeNull(), { timeout: 60_000 });
    expect(section?.secret("plain", "accounts.ada.password")).toBe("plain");
    expect(() => section?.secret({ env: "NOT_THERE" }, "accounts.ada.password")).toThrow(
      /hooks\.letter\.accounts\.ada\.password/,
    );
    expect(() => host.preset("letter")).toThrow(/after setup/);
  });

  test("are not available to another plugin", async () => {
    const postman = createPostman((host) => void host.preset("gmail"));
    await expect(start({}, postman)).rejects.toThrow(/did not start:\n- .*postman.*no preset gmail/);
  });
});
