/**
 * A plugin of a user with a section of its own: checked, shown, completed, edited and followed like the sections of the
 * gateway.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../core/gateway/gateway.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { restart, writeConfig } from "./room.ts";

const secret = "a-secret-of-the-section-7431";

/** It says what it is handed: its settings, and the secret. */
const weather = `
import { definePlugin, secretReference, Type } from "service-gateway/sdk";
const schema = Type.Object({
  town: Type.String({ minLength: 1, default: "Bern", description: "Town of the forecast." }),
  days: Type.Integer({ minimum: 1, maximum: 9, default: 3, description: "Days of the forecast." }),
  key: Type.Optional(secretReference({ description: "Key of the service." })),
}, { default: {}, description: "The weather." });
export default definePlugin({
  id: "weather", version: "1.0.0", host: "^0.2.0",
  section: { key: "weather", schema,
    check: ({ town, days }) => town === "Atlantis" && days > 1 ? [{ path: ["town"], message: "is no place on land", hint: "Choose another town." }] : [] },
  cli: { name: "weather", summary: "The weather.", commands: [
    { name: "town", args: ["<town>"], summary: "Set the town.", example: "town Bern",
      run: async (call) => { const own = await call.section<typeof schema>("weather");
        return { lines: [own.settings()?.town + " > " + String(await own.set(["town"], call.args[0] ?? ""))], data: null }; } }] },
  setup(host) {
    const section = host.section("weather");
    let changes = 0;
    section.onChange(() => { changes += 1; });
    const keyOf = (key: unknown) => { try { return key === undefined ? "none" : section.secret(key, "key"); } catch (error) { return String(error); } };
    host.log.warn({ key: keyOf(section.settings()?.key) }, "set up");
    host.route({ method: "GET", path: "/weather", access: "public", handler: () => {
      const { town = "off", days = 0, key } = section.settings() ?? {};
      return { body: { town, days, key: keyOf(key), changes, channels: section.names().channels } };
    } });
  },
});`;

function homeWith(config: string): { readonly home: string; readonly file: string } {
  const home = temporaryHome();
  const folder = join(home, ".service", "weather");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.ts"), weather);
  const file = join(home, ".service", "config.jsonc");
  writeFileSync(file, config, { mode: 0o600 });
  return { home, file };
}

const patience = { timeout: 10_000 };

const load = '"plugins": { "load": ["./weather"] }';

test("an error has its path, file and line, a typing error a hint; other commands know the section too", async () => {
  const { home, file } = homeWith(`{\n  ${load},\n  "weather": {\n    "days": 12,\n    "twon": "Basel"\n  }\n}\n`);
  const { code, out } = await run(["config", "validate"], { home });
  expect(code).toBe(1);
  expect(out).toContain(`${file}:4:`);
  expect(out).toMatch(/weather\.days: is 12, but must be a whole number from 1 to 9/);
  expect(out).toMatch(/weather\.twon: this key is not known.*\n?.*Did you mean town\?/);
  expect((await run(["doctor"], { home })).out).toMatch(/weather\.days \(line 4\): is 12/);
  expect(await run(["config", "set", "weather.days", "10"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("weather.days"),
  });
  expect(await run(["config", "set", "weather.twon", "Basel"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("weather.town"),
  });
  expect(await run(["config", "set", "weather.days", "5"], { home })).toMatchObject({ code: 0 });
  expect((await run(["config", "get", "weather.town"], { home })).out).toBe("Bern\n");
});

test("editors complete it by the schema that the program prints", async () => {
  const { home } = homeWith(`{ ${load} }`);
  const { properties } = JSON.parse((await run(["config", "schema"], { home })).out);
  expect(properties.weather).toMatchObject({
    description: "The weather.",
    additionalProperties: false,
    properties: {
      days: { type: "integer", minimum: 1, maximum: 9, default: 3, description: "Days of the forecast." },
      key: { anyOf: [{ type: "string" }, { properties: { env: {} } }, { properties: { file: {} } }] },
    },
  });
});

test("its own command edits it, keeps comments, and writes nothing that its check refuses", async () => {
  const { home, file } = homeWith(`{\n  ${load},\n  // The weather here.\n  "weather": { "days": 2 }\n}\n`);
  expect(await run(["weather", "town", "Basel"], { home })).toMatchObject({ code: 0, out: "Bern > true\n" });
  const written = readFileSync(file, "utf8");
  expect(written).toContain("// The weather here.");
  expect(written).toContain('"town": "Basel"');
  const refused = await run(["weather", "town", "Atlantis"], { home });
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/weather\.town.*is no place on land.*Choose another town\./s),
  });
  expect(readFileSync(file, "utf8")).toBe(written);
});

test("a secret of it is hidden wherever the configuration is shown", async () => {
  const { home } = homeWith(`{ ${load}, "weather": { "key": "${secret}" } }`);
  const shown = await Promise.all([run(["config", "get"], { home }), run(["config", "get", "weather.key"], { home })]);
  expect(shown.map(({ out }) => out.includes(secret))).toEqual([false, false]);
  expect(shown[1]?.out).toBe("(set)\n");
});

test("without its plugin, the warning says what is missing; if it is switched off, how to switch it on", async () => {
  const { home, file } = homeWith('{ "weather": { "days": 5 } }');
  const missing = await run(["config", "validate"], { home });
  expect(missing).toMatchObject({ code: 0 });
  expect(missing.out).toMatch(
    /weather: this key is not known.*No plugin that is loaded declares it\. Name the plugin that does in plugins\.load/s,
  );
  writeConfig(
    file,
    `{ "plugins": { "load": ["./weather"], "entries": { "weather": { "enabled": false } } }, "weather": { ` +
      `"days": 5 } }`,
  );
  const off = await run(["config", "validate"], { home });
  expect(off.out).toMatch(/weather: no enabled plugin reads this key.*plugins\.entries\.weather\.enabled/s);
  writeConfig(
    file,
    `{ "plugins": { "entries": { "schedule": { "enabled": false } } }, "schedules": { "a": { "every": "1h", ` +
      `"message": "x" } } }`,
  );
  expect((await run(["config", "validate"], { home })).out).toMatch(/schedules: no enabled plugin reads this key/);
});

test.each(["inline", "worker"])(
  "an edit reaches a running plugin (%s) without a restart; a wrong one costs the edit only",
  {
    timeout: 60_000,
  },
  async (isolation) => {
    const { home, file } = homeWith("{}");
    const config = (parts: object) => ({
      gateway: { port: 0 },
      plugins: { load: ["./weather"], entries: { weather: { isolation } } },
      ...parts,
    });
    writeConfig(file, config({ weather: { town: "Basel", key: { env: "WEATHER_KEY" } } }));
    const gateway = await restart({ home, file, env: { WEATHER_KEY: secret } });
    const { url } = gateway;
    const ask = async () => await (await fetch(`${url}/weather`)).json();
    expect(await ask()).toEqual({ town: "Basel", days: 3, key: secret, changes: 0, channels: [] });

    writeConfig(file, config({ weather: { days: 4 } }));
    await expect.poll(ask, patience).toEqual({ town: "Bern", days: 4, key: "none", changes: 1, channels: [] });

    writeConfig(file, config({ weather: { days: "many" } }));
    await gateway.until(/"path":"weather\.days"[^\n]*is \\"many\\", but must be a whole number/);
    await gateway.until(/"sections":\["weather"\]/);
    await expect.poll(ask, patience).toMatchObject({ town: "Bern", days: 4, changes: 2 });

    writeConfig(file, config({ weather: { town: "Atlantis", days: 2 } }));
    await gateway.until(/"path":"weather\.town"[^\n]*is no place on land/);
    await expect.poll(ask, patience).toMatchObject({ town: "Bern", days: 4, changes: 3 });

    writeConfig(file, config({ weather: { key: { env: "NOT_SET" } } }));
    const unset = expect.stringMatching(/weather\.key: .*the environment variable NOT_SET is not set/);
    await expect.poll(ask, patience).toMatchObject({ key: unset, changes: 4 });

    gateway.child.kill("SIGTERM");
    const { out, err } = await gateway.finished;
    expect(out + err).toContain('"msg":"set up"');
    expect(out + err).not.toContain(secret);
  },
);

test("a plugin that `plugins create` wrote has a section, which its command edits", { timeout: 60_000 }, async () => {
  const { home, file } = homeWith("{}");
  expect(
    await run(["plugins", "create", "my-notes", "--kind", "plugin", "--dir", join(home, ".service", "my-notes")], {
      home,
    }),
  ).toMatchObject({ code: 0 });
  writeConfig(file, '{\n  "plugins": { "load": ["./my-notes"] },\n  "myNotes": { "signature": 7 }\n}\n');
  const { code, out } = await run(["config", "validate"], { home });
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/config\.jsonc:3:.*myNotes\.signature: is 7, but must be a text/s),
  ]);
  writeConfig(file, '{ "plugins": { "load": ["./my-notes"] } }');
  expect(await run(["my-notes", "signature", "Your bot"], { home })).toMatchObject({
    code: 0,
    out: "Below each reply: Your bot\n",
  });
  expect((await run(["config", "get", "myNotes.signature"], { home })).out).toBe("Your bot\n");
});

test("a plugin that is replaced in a running gateway has the section that it declares from then on", async () => {
  const { home, file } = homeWith("{}");
  writeConfig(file, {
    gateway: { port: 0 },
    log: { level: "error" },
    plugins: { load: ["./weather"] },
    weather: { days: 4 },
    sky: { stars: 7 },
  });
  const gateway = await createGateway({ configFile: file, environment: {}, home });
  onTestFinished(() => gateway.close());
  const problems = async () => (await gateway.describe()).problems.map(({ path, message }) => `${path}: ${message}`);
  expect(await problems()).toEqual(["sky: this key is not known"]);
  writeFileSync(
    join(home, ".service", "weather", "index.ts"),
    `import { definePlugin, Type } from "service-gateway/sdk";
    const schema = Type.Object({ stars: Type.Integer({ description: "Stars." }), moons: Type.Integer({ default: 1, description: "Moons." }) });
    export default definePlugin({ id: "weather", version: "1.0.0", host: "^0.2.0", section: { key: "sky", schema }, setup(host) {
      const inSetup = host.section("sky").settings();
      host.route({ method: "GET", path: "/sky", access: "public", handler: () => ({ body: inSetup ?? {} }) });
    } });`,
  );
  await gateway.replacePlugin("./weather");
  expect(await (await fetch(`${gateway.url}/sky`)).json()).toEqual({ stars: 7, moons: 1 });
  expect(await problems()).toEqual(["weather: this key is not known"]);
});
