import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../core/contract/types.ts";
import { TransformError } from "../../../core/transforms/error.ts";
import { bodies, files, forbiddenGlobals, forbiddenModules } from "./attempts.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

/** Stands outside the root: whoever shows it has read what it must not. */
const canary = "canary-5f1d0c";
const variable = "TRANSFORM_TEST_SECRET";

let shop: Workshop;
let outside: string;
let contacts: string[];
let where: Readonly<Record<string, unknown>>;
const closing: (() => void)[] = [];

beforeAll(async () => {
  process.env[variable] = canary;
  shop = openWorkshop({}, { timeoutSeconds: 10, memoryMb: 64 });
  outside = join(shop.directory, "outside");
  mkdirSync(outside);
  const secret = `export default "${canary}"; export const secret = "${canary}";`;
  writeFileSync(join(outside, "secret.mjs"), secret);
  writeFileSync(join(outside, "secret.ts"), secret);
  writeFileSync(join(outside, "secret.cjs"), `module.exports = "${canary}";`);
  writeFileSync(join(outside, "secret.json"), JSON.stringify({ canary }));
  writeFileSync(join(outside, "secret.txt"), canary);
  mkdirSync(join(shop.directory, "node_modules/above"), { recursive: true });
  writeFileSync(join(shop.directory, "node_modules/above/index.js"), `module.exports = "${canary}";`);
  symlinkSync(join(outside, "secret.mjs"), join(shop.root, "link.mjs"));
  symlinkSync(outside, join(shop.root, "folder"));
  symlinkSync("../outside/secret.ts", join(shop.root, "relative.ts"));
  contacts = [];
  const tcp = createServer((socket) => {
    contacts.push("tcp");
    socket.destroy();
  }).listen(0, "127.0.0.1");
  const path = join(shop.directory, "sock");
  const unix = createServer((socket) => {
    contacts.push("unix");
    socket.destroy();
  }).listen(path);
  const http = createHttpServer((_request, response) => {
    contacts.push("http");
    response.end(canary);
  }).listen(0, "127.0.0.1");
  const udp = createSocket("udp4", () => contacts.push("udp")).bind(0, "127.0.0.1");
  await Promise.all([tcp, unix, http, udp].map((server) => once(server, "listening")));
  closing.push(
    () => tcp.close(),
    () => unix.close(),
    () => http.close(),
    () => udp.close(),
  );
  const port = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  where = {
    outside,
    directory: shop.directory,
    tcp: port(tcp),
    http: port(http),
    udp: port(udp),
    unix: path,
    variable,
    written: join(shop.directory, "written"),
  };
});

afterAll(async () => {
  delete process.env[variable];
  for (const close of closing) close();
  await shop.close();
});

describe("a transform that tries to escape", () => {
  const names = Object.keys(bodies);

  beforeAll(() => {
    const functions = Object.values(bodies).map(
      (body, index) =>
        `export async function a${index}({ payload: p }) { return show(await (async () => { ${body} })()); }`,
    );
    const show =
      "const show = (found) => found === undefined || found === null || (Array.isArray(found) && " +
      "found.length === 0) ? null : { message: say(found) };";
    const say =
      "const say = (found) => { try { return JSON.stringify(found) + String(Object.keys(found)) + " +
      "String(found.default) } catch { return String(found) } };";
    shop.write("bodies.mjs", [show, say, ...functions].join("\n"));
    for (const [name, text] of Object.entries(files)) shop.write(name, text);
  });

  test("is loaded and called, and fails only at the sandbox", async () => {
    expect(await shop.transforms.exportsOf("bodies.mjs")).toHaveLength(names.length);
  });

  test.each(names)("gains nothing from %s", async (name) => {
    const ended = await shop
      .run("bodies.mjs", where as Json, `a${names.indexOf(name)}`)
      .catch((error: TransformError) => error);
    if (ended instanceof TransformError) expect(["threw", "refused"]).toContain(ended.kind);
    else expect(ended).toBeNull();
    expect(String(ended)).not.toContain(canary);
  });

  test.each(Object.keys(files).filter((name) => !name.startsWith("node_modules/")))(
    "gains nothing from %s",
    async (name) => {
      const ended = await shop.run(name, where as Json).catch((error: TransformError) => error);
      if (ended instanceof TransformError) expect(["threw", "refused"]).toContain(ended.kind);
      else expect((ended as { message?: string } | null)?.message ?? "").toBe("");
      expect(String(ended)).not.toContain(canary);
    },
  );

  test("finds no Node module that reaches files, processes, the network or the runtime", async () => {
    shop.write(
      "builtins.mjs",
      `export default async () => {
        const got = [];
        for (const name of ${JSON.stringify(forbiddenModules.split(" "))}) for (const spelled of [name, "node:" + name, "NODE:" + name, name + "/", "node:" + name + "?x"]) {
          try { await import(spelled); got.push(spelled); } catch {}
        }
        return { message: got.join() };
      };`,
    );
    expect(await shop.run("builtins.mjs")).toEqual({ message: "" });
    const required =
      "module.exports = () => ({ message: " +
      `${JSON.stringify(forbiddenModules.split(" "))}.filter((n) => { try { return ` +
      `require(n) } catch {} try { return require("node:" + n) } catch {} }).join() })`;
    shop.write("requires.js", required);
    expect(await shop.run("requires.js")).toEqual({ message: "" });
  });

  test("finds no global that reaches the network, threads or machine code", async () => {
    shop.write(
      "globals.mjs",
      `export default () => ({ message: ${JSON.stringify(forbiddenGlobals.split(" "))}.filter((n) => n in ` +
        "globalThis).join() });",
    );
    expect(await shop.run("globals.mjs")).toEqual({ message: "" });
  });

  test("cannot follow a symbolic link that is planted after startup", async () => {
    shop.write("planted.mjs", 'export default async () => ({ message: String((await import("./new.mjs")).secret) });');
    expect((await shop.fault("planted.mjs")).kind).toBe("threw");
    symlinkSync(join(outside, "secret.mjs"), join(shop.root, "new.mjs"));
    for (let attempt = 0; attempt < 3; attempt++)
      expect(String((await shop.fault("planted.mjs")).message)).not.toContain(canary);
    shop.write(
      "planted.mjs",
      '// again\nexport default async () => ({ message: String((await import("./new.mjs")).secret) });',
    );
    expect(await shop.fault("planted.mjs")).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("ends outside the transforms root"),
    });
  });

  test("leaves no trace outside: no connection and no file", () => {
    expect(contacts).toEqual([]);
    expect(existsSync(join(shop.directory, "written"))).toBe(false);
  });
});
