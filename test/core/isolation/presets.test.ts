/** A plugin reads the settings of its presets from a worker as it does inline. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTestHost } from "../../../core/testkit/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const source = `
  import { definePlugin, secretReference, Type } from "service-gateway/sdk";
  const settings = Type.Object({
    box: Type.Optional(Type.String({ description: "A box." })),
    password: Type.Optional(secretReference({ description: "Its password." })),
  });
  const read = (fn) => { try { return fn(); } catch (error) { return error.message; } };
  export default definePlugin({ id: "post", version: "1.0.0", host: "^0.2.0",
    presets: [{ id: "letter", path: "letter", mappings: [{ messageTemplate: "{{ text }}" }], settings }],
    setup(host) {
      const letter = host.preset("letter");
      const other = read(() => host.preset("gmail"));
      let edits = 0;
      letter.onChange(() => { edits += 1; });
      host.command({ name: "box", summary: "Shows it.", role: "anyone", run: async () => JSON.stringify({
        box: letter.settings()?.box,
        password: read(() => letter.secret(letter.settings()?.password, "password")),
        edits, other, late: read(() => host.preset("letter")),
      }) });
    } });`;

test.each(["inline", "worker"] as const)(
  "%s: settings, secrets, edits, and a preset that it does not declare",
  async (isolation) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "post"));
    writeFileSync(join(directory, "post", "index.ts"), source);
    const letter = { box: "red", password: { env: "BOX_PASSWORD" } };
    const host = await createTestHost({
      directory,
      environment: { BOX_PASSWORD: "the-password-of-the-box" },
      config: {
        plugins: { load: ["./post"], entries: { post: { isolation } } },
        hooks: { token: "hook-token-of-the-test-1", presets: ["letter"], letter },
      },
    });
    onTestFinished(() => host.close());
    const shown = async () => {
      await host.say("/box");
      return JSON.parse(host.outbox().at(-1)?.text ?? "");
    };
    expect(await shown()).toEqual({
      box: "red",
      password: "the-password-of-the-box",
      edits: 0,
      other: expect.stringContaining("it declares no preset gmail"),
      late: expect.stringContaining("preset was called after setup"),
    });
    const config = JSON.parse(readFileSync(host.configFile, "utf8"));
    config.hooks.letter = { box: "blue", password: { env: "NOT_THERE" } };
    writeFileSync(host.configFile, JSON.stringify(config));
    await expect.poll(async () => (await shown()).box, { interval: 50, timeout: 20_000 }).toBe("blue");
    const changed = await shown();
    expect(changed.edits).toBeGreaterThan(0);
    expect(changed.password).toMatch(/hooks\.letter\.password.*NOT_THERE|NOT_THERE.*hooks\.letter\.password/);
  },
);
