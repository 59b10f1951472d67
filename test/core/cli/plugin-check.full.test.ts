import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run as runAlone, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

/** The folder of a plugin whose `setup` does what the text says. */
function pluginThat(does: string, more = ""): { readonly home: string; readonly folder: string } {
  const home = temporaryHome();
  const folder = join(home, "guest");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "index.ts"),
    `import { definePlugin, Type } from "service-gateway/sdk";
export default definePlugin({ id: "guest", version: "1.2.0", host: "^0.2.0", ${more} setup(host, options) { ${does} } });\n`,
  );
  return { home, folder };
}

test("a working plugin is shown with its hook points, and the trial leaves nothing behind", async () => {
  const { home, folder } = pluginThat(
    `host.tap("settled", () => {}); host.route({ method: "GET", path: "counts", access: "gateway", handler: ` +
      "async () => ({ body: {} }) });",
  );
  const trials = () => readdirSync(tmpdir()).filter((name) => name.startsWith("service-plugin-"));
  const before = trials();
  const { code, out, err } = await run(["plugins", "check", folder], { home });
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^✓ +guest +1\.2\.0 +yours +up/);
  expect(out).toContain("takes part in settled");
  expect(out).toContain("GET /plugins/guest/counts (gateway)");
  expect(trials()).toEqual(before);
  expect(readdirSync(home)).toEqual(["guest"]);
});

test("a plugin that fails in setup is reported with the reason and exit code 1", async () => {
  const { home, folder } = pluginThat('throw new Error("no such mailbox");');
  const { code, out } = await run(["plugins", "check", folder], { home });
  expect(code).toBe(1);
  expect(out).toMatch(/^✗ +guest .*failed in setup: no such mailbox/);
});

test("a plugin that ends the process is an error, not a silent success", async () => {
  const { home, folder } = pluginThat("process.exit(0);");
  const { code, out } = await runAlone(["plugins", "check", folder, "--json"], { home, env: { TMPDIR: home } });
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    findings: [{ rule: "load-failed", message: "The plugin ended the process, as by process.exit.", at: { line: 2 } }],
  });
  expect(readdirSync(home)).toEqual(["guest"]);
});

test("options are validated by the plugin's schema and passed to its setup", async () => {
  const { home, folder } = pluginThat(
    'if (options.size > 5) throw new Error("larger than the room"); host.tap("settled", () => {});',
    "options: Type.Object({ size: Type.Integer({ description: 'Its size.' }) }),",
  );
  const check = async (...more: readonly string[]) => await run(["plugins", "check", folder, ...more], { home });
  expect((await check()).out).toContain("plugins.entries.guest.options.size");
  expect(await check("--options", '{ "size": 9 }')).toMatchObject({
    code: 1,
    out: expect.stringContaining("larger than the room"),
  });
  const { code, out } = await check("--options", '{ "size": 3 }', "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    plugin: { id: "guest", version: "1.2.0", state: "up", taps: ["settled"] },
  });
  expect(await check("--options", "size=3")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--options is not JSON"),
  });
  expect(await check("--options", "[]")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--options is not an object"),
  });
});

test("a missing path is reported in a sentence; a module that is not a plugin is a finding with its line", async () => {
  const { home, folder } = pluginThat("");
  const check = async () => JSON.parse((await run(["plugins", "check", folder, "--json"], { home })).out);
  writeFileSync(join(folder, "index.ts"), "const id = 'guest';\nexport default { id };\n");
  expect(await check()).toMatchObject({
    ok: false,
    findings: [
      {
        rule: "declaration-invalid",
        message: expect.stringContaining("version"),
        at: { file: join(folder, "index.ts"), line: 2 },
      },
    ],
  });
  writeFileSync(join(folder, "part.ts"), "export const size = 3;\n\nexport const = 4;\n");
  writeFileSync(join(folder, "index.ts"), 'import { size } from "./part.ts";\nexport default { id: "guest", size };\n');
  expect(await check()).toMatchObject({
    findings: [{ rule: "load-failed", at: { file: join(folder, "part.ts"), line: 3 } }],
  });
  writeFileSync(
    join(folder, "index.ts"),
    'import { join } from "node:path";\n\nthrow new Error("no token in " + join("a", "b"));\n',
  );
  expect(await check()).toMatchObject({
    findings: [
      {
        rule: "load-failed",
        message: expect.stringContaining("no token in a/b"),
        at: { file: join(folder, "index.ts"), line: 3 },
      },
    ],
  });
  expect(await run(["plugins", "check", "./nowhere"], { home })).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot be found"),
  });
});

// The contract runs in a test runner of its own, which other work on the machine can hold up.
describe("the package of a plugin", () => {
  /** A new plugin, changed by replacements of text in its files; `undefined` removes a file. */
  async function packageWith(
    kind: "channel" | "preset",
    changes: Readonly<Record<string, ((text: string) => string) | undefined>>,
  ) {
    const home = temporaryHome();
    const folder = join(home, "acme-chat");
    expect((await run(["plugins", "create", "acme-chat", "--kind", kind, "--dir", folder], { home })).code).toBe(0);
    for (const [path, change] of Object.entries(changes)) {
      const file = join(folder, path);
      if (change === undefined) {
        rmSync(file);
        continue;
      }
      const before = existsSync(file) ? readFileSync(file, "utf8") : "";
      expect(change(before)).not.toBe(before);
      writeFileSync(file, change(before));
    }
    const check = (...more: readonly string[]) => run(["plugins", "check", folder, ...more], { home });
    const found = async () => {
      const { ok, findings } = JSON.parse((await check("--json")).out) as {
        readonly ok: boolean;
        readonly findings: readonly Found[];
      };
      return {
        ok,
        findings: findings.map(
          ({ rule, at }) => `${rule} ${at === undefined ? "" : `${at.file.slice(folder.length + 1)}:${at.line}`}`,
        ),
      };
    };
    return { home, folder, check, found };
  }

  interface Found {
    readonly rule: string;
    readonly message: string;
    readonly at?: { readonly file: string; readonly line: number };
  }

  test("of a newly created channel has no findings and passes the contract without its platform", async () => {
    const { check } = await packageWith("channel", {});
    const { code, out } = await check("--strict");
    expect(out).toMatch(/passes [23]\d rules of the contract/);
    expect([code, out]).toEqual([0, expect.stringMatching(/\n0 errors, 0 warnings\.\n$/)]);
  });

  test("has its options checked: descriptions, secrets, reserved names and defaults", async () => {
    const { found } = await packageWith("channel", {
      "src/index.ts": (text) =>
        text
          .replace("token: secretText(", "token: Type.String(")
          .replace(
            "const options = Type.Object({",
            "const options = Type.Object({\n  allowFrom: Type.Optional(Type.String()),\n  retries: " +
              "Type.Integer({ default: -1, minimum: 0, description: 'How often.' }),",
          ),
      // Without fixtures, only what is declared is judged.
      "test/fixtures.ts": undefined,
    });
    const { ok, findings } = await found();
    expect(ok).toBe(false);
    expect(findings).toEqual(
      expect.arrayContaining([
        "option-description src/index.ts:11",
        "option-name src/index.ts:11",
        "option-default src/index.ts:12",
        "option-secret src/index.ts:15",
        expect.stringMatching(/^contract-not-run src\/index\.ts:\d+$/),
      ]),
    );
  });

  test("gets a finding for each broken contract rule, in the words of the contract", async () => {
    const { check } = await packageWith("channel", {
      "src/parse.ts": (text) => text.replace('if (from === bot) return { silent: "own_message" };', ""),
    });
    const { code, out } = await check("--json");
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { readonly findings: readonly Found[] };
    expect(findings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      expect.stringMatching(
        /^contract-broken: parse > events of the bot itself are silent: .*the bot would reply to itself/,
      ),
    ]);
  });

  test("gets a finding for a function of the connection that the gateway never calls, at its line", async () => {
    for (const [written, message] of [
      ["async prob() {", /a function prob, which the gateway does not call\. Did you mean probe\?/],
      [
        "async typing() {},\n    async probe() {",
        /a function typing, which the gateway calls only with the capability/,
      ],
    ] as const) {
      const { check, folder } = await packageWith("channel", {
        "src/connection.ts": (text) => text.replace("async probe() {", written),
        ...(!written.includes("probe") && { "test/fixtures.ts": (text) => text.replace('["probe"]', "[]") }),
      });
      const { findings } = JSON.parse((await check("--json")).out) as { readonly findings: readonly Found[] };
      const line = readFileSync(join(folder, "src/connection.ts"), "utf8").split("\n");
      expect(findings).toEqual([
        expect.objectContaining({
          rule: "contract-broken",
          message: expect.stringMatching(message),
          at: {
            file: join(folder, "src/connection.ts"),
            line: line.findIndex((one) => /prob\(|typing\(/.test(one)) + 1,
          },
        }),
      ]);
    }
  });

  test("has its contents, peer dependency, version and licences checked", async () => {
    const { check, folder } = await packageWith("preset", {
      "package.json": (text) => {
        const { peerDependencies: _, license: __, ...rest } = JSON.parse(text);
        return JSON.stringify(
          {
            ...rest,
            version: "0.2.0",
            files: ["test", ".env.production"],
            dependencies: { strict: "1.0.0", free: "1.0.0" },
          },
          null,
          2,
        );
      },
      ".env.production": () => "TOKEN=1",
    });
    for (const [name, license] of [
      ["strict", "AGPL-3.0-only"],
      ["free", "(MIT OR GPL-3.0)"],
    ] as const) {
      mkdirSync(join(folder, "node_modules", name), { recursive: true });
      writeFileSync(
        join(folder, "node_modules", name, "package.json"),
        JSON.stringify({ name, version: "1.0.0", license }),
      );
    }
    const { runs } = JSON.parse((await check("--sarif")).out);
    const { results, tool } = runs[0];
    expect(results.map(({ ruleId }: { readonly ruleId: string }) => ruleId)).toEqual([
      "package-entry",
      "package-secret",
      "package-tests",
      "package-peer",
      "package-version",
      "licence-missing",
      "licence-copyleft",
    ]);
    const artifactLocation = { uri: expect.stringMatching(/package\.json$/) };
    const locations = [{ physicalLocation: { artifactLocation, region: { startLine: 7 } } }];
    const text = expect.stringContaining("does not contain its entry src/index.ts. Add the folder");
    expect(results[0]).toMatchObject({ level: "error", message: { text }, locations });
    expect(results[1]).toMatchObject({ ruleId: "package-secret", locations });
    expect(tool.driver.rules[results[0].ruleIndex].id).toBe("package-entry");
  });

  test("exits with 0 if there are only warnings, and with 1 under --strict", async () => {
    const { check } = await packageWith("preset", {
      "package.json": (text) => text.replace('"license": "MIT"', '"license": "UNLICENSED"'),
    });
    expect([(await check()).code, (await check("--strict")).code]).toEqual([0, 1]);
    expect((await check("--sarif", "--json")).code).toBe(2);
  });

  test("is not run if its code is written for another version", async () => {
    const { found, folder } = await packageWith("preset", {
      "package.json": (text) => text.replace(/("peerDependencies": \{ "service-gateway": )"[^"]+"/, '$1"^9.0.0"'),
      "src/index.ts": (text) =>
        `import { writeFileSync } from "node:fs";\nwriteFileSync(import.meta.dirname + "/ran", "");\n${text}`,
    });
    expect(await found()).toEqual({ ok: false, findings: ["host-range package.json:16"] });
    expect(existsSync(join(folder, "src", "ran"))).toBe(false);
  });
});
