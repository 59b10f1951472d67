/** `update --check` against a registry that this test plays. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { expect, test } from "vitest";
import { packageVersion } from "../../../core/contract/package.ts";
import { onTestFinished } from "../../support/own-test.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const changelog = `# Changelog

## 0.3.0

- Cats \u001b[31mpurr.

## 0.2.0

- Dogs bark.

## ${packageVersion()}

- The first version.
`;

interface Registry {
  readonly newest: string;
  readonly log?: string;
  readonly node?: string;
  /** Whether the package is not the one that the registry describes. */
  readonly isForged?: boolean;
}

/** A registry with this package, and perhaps newer versions of it. */
async function registry({ newest, log, node = ">=20", isForged = false }: Registry): Promise<string> {
  const entries =
    log === undefined ? [] : [{ header: { name: "package/CHANGELOG.md", size: Buffer.byteLength(log) }, body: log }];
  const tarball = gzipSync(await packTar(entries));
  const integrity = `sha512-${createHash("sha512")
    .update(isForged ? "another" : tarball)
    .digest("base64")}`;
  const url = await serve((request, response) => {
    if (request.url === "/package.tgz") return void response.end(tarball);
    const dist = { tarball: `${url}/package.tgz`, integrity };
    const versions = [packageVersion(), "0.2.0", newest].map((version) => [version, { engines: { node }, dist }]);
    response.end(
      JSON.stringify({
        "dist-tags": { latest: newest },
        versions: Object.fromEntries(versions),
        time: { [newest]: "2026-12-01T10:00:00.000Z" },
      }),
    );
  });
  return url;
}

const check = (url: string, ...more: readonly string[]) =>
  run(["update", "--check", ...more], { home: temporaryHome(), env: { npm_config_registry: url } });

test("a newer version ends with 3: what changes between, how to install it and how to go back", async () => {
  const { code, out, err } = await check(await registry({ newest: "0.3.0", log: changelog }));
  expect([code, err]).toEqual([3, ""]);
  expect(out).toMatch(/^0\.3\.0 is the newest version \(2026-12-01\); this is \d+\.\d+\.\d+\.\n/);
  expect(out).toMatch(/0\.3\.0\n- Cats \\u001b\[31mpurr\.\n\n0\.2\.0\n- Dogs bark\.\n/);
  expect(out).not.toContain("The first version.");
  expect(out).toMatch(/backup before-0\.3\.0\.tar\.gz\n {2}npm install -g service-gateway@0\.3\.0\n/);
  expect(out).toContain(`npm install -g service-gateway@${packageVersion()}`);
});

test("with --json, programs read the same", async () => {
  const { code, out } = await check(await registry({ newest: "0.3.0", log: changelog, node: ">=99" }), "--json");
  expect([code, JSON.parse(out)]).toEqual([
    3,
    expect.objectContaining({
      current: packageVersion(),
      newest: "0.3.0",
      isNewer: true,
      versions: ["0.2.0", "0.3.0"],
      changes: [
        { version: "0.3.0", text: expect.stringContaining("Cats") },
        { version: "0.2.0", text: "- Dogs bark." },
      ],
      install: "npm install -g service-gateway@0.3.0",
      node: { needed: ">=99", runs: false },
    }),
  ]);
});

test("a package without a change log, or another one than described, is replaced by a link", async () => {
  for (const made of [{ newest: "0.3.0" }, { newest: "0.3.0", log: changelog, isForged: true }]) {
    const { code, out } = await check(await registry(made));
    expect(code).toBe(3);
    expect(out).toContain("What changes: https://www.npmjs.com/package/service-gateway/v/0.3.0");
    expect(out).not.toContain("purr");
  }
});

test("the newest version ends with 0", async () => {
  const { code, out } = await check(await registry({ newest: packageVersion() }));
  expect([code, out]).toEqual([0, `${packageVersion()} is the newest version.\n`]);
});

test("an unpublished package, a broken registry and no network are one sentence each, with code 1", async () => {
  const missing = await serve((_, response) => void response.writeHead(404).end("{}"));
  expect(await check(missing)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: .*has no package service-gateway, so it is not published there\.\n/),
  });
  const broken = await serve((_, response) => void response.end("<html>"));
  expect(await check(broken)).toMatchObject({
    code: 1,
    err: expect.stringContaining("sent something else than a package"),
  });
  const away = await check("http://127.0.0.1:9", "--json");
  expect([away.code, JSON.parse(away.out)]).toEqual([
    1,
    expect.objectContaining({
      code: "update_unknown",
      error: expect.stringContaining("127.0.0.1:9 cannot be reached: "),
    }),
  ]);
});

test("the registry is that of the option, of npm's variable in any case, or of ~/.npmrc", async () => {
  const url = await registry({ newest: packageVersion() });
  const home = temporaryHome();
  const away = "http://127.0.0.1:9";
  const code = async (args: readonly string[], env: Readonly<Record<string, string>>) =>
    (await run(["update", "--check", ...args], { home, env })).code;
  expect(await code(["--registry", url], { npm_config_registry: away })).toBe(0);
  expect(await code([], { NPM_CONFIG_REGISTRY: url })).toBe(0);
  writeFileSync(join(home, ".npmrc"), `; mine\nregistry = ${url}/\n`);
  expect(await code([], {})).toBe(0);
  expect(await code([], { npm_config_registry: away })).toBe(1);
  expect(await code(["--registry", "file:///etc"], {})).toBe(2);
});

test("without --check, the command says that nothing updates by itself", async () => {
  const { code, err } = await run(["update"], { home: temporaryHome() });
  expect([code, err]).toEqual([2, expect.stringContaining("nothing updates by itself")]);
});
