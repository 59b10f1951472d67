/** `backup` and `restore`, without a gateway: what is in the file, what is written, and what is refused. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { packTar, unpackTar } from "modern-tar";
import { beforeAll, expect, test } from "vitest";
import { examineBackup, restoreBackup } from "../../../core/backups/restore.ts";
import { backupProgress } from "../../../core/cli/backup/progress.ts";
import type { Terminal } from "../../../core/cli/output/terminal.ts";
import { packageVersion } from "../../../core/contract/package.ts";
import { lockState } from "../../../core/state/lock.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { knownSchema } from "../../../core/state/sqlite/snapshot.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const botToken = "123456789:AAE-a-token-of-a-bot-0123456789";
const hookToken = "a-hook-token-in-a-file-0123456789";

/** A home with a state, a configuration with comments, a workspace, a transform, media and secrets of each kind. */
async function madeHome(atEnd?: Parameters<typeof temporaryHome>[0]): Promise<string> {
  const home = temporaryHome(atEnd);
  const directory = join(home, ".service");
  const store = await openSqliteStore({ directory, now: Date.now });
  await store.begin(Date.now());
  await store.set("plugin", "key", { remembered: true });
  await store.close();
  const write = (path: string, text: string) => {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  write(
    ".service/config.jsonc",
    `{
  // The bot of the family.
  "channels": { "botchat": { "botToken": "${botToken}", "dmPolicy": "pairing" } },
  "hooks": { "enabled": true, "token": { "file": "hook-token" } },
  "models": { "providers": { "local": { "api": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1", "apiKey": { "env": "MODEL_KEY" } } } },
  "agents": { "defaults": { "model": "local/small", "workspace": "~/agent" } }, // where it works
}
`,
  );
  write(".service/hook-token", `${hookToken}\n`);
  write(".service/gateway-token", "the-token-of-the-gateway-0123456789\n");
  write(".service/logs/gateway.log", "a line\n");
  write(".service/transforms/alert.ts", "export default () => ({});\n");
  write(".service/botchat/default/identity.json", "{}\n");
  write(".service/botchat/default/media/photo.jpg", "a photo");
  write(".service/botchat/default/secrets/session", "the session of a linked device");
  write("agent/MEMORY.md", "# Notes\n");
  write("agent/deep/er/file.txt", "deep");
  symlinkSync("/etc/passwd", join(home, "agent", "link"));
  return home;
}

let home = "";
let archive = "";
beforeAll(async () => {
  home = await madeHome((fn) => void ended.push(fn));
  archive = join(home, "backup.tar.gz");
  const { code, err } = await run(["backup", archive], { home });
  expect([code, err]).toEqual([0, ""]);
  return async () => {
    for (const fn of ended) await fn();
  };
});
const ended: (() => void | Promise<void>)[] = [];

type Entries = Awaited<ReturnType<typeof unpackTar>>;
const open = async (file: string): Promise<Entries> => await unpackTar(gunzipSync(readFileSync(file)));
const textOf = (entries: Entries, name: string) =>
  new TextDecoder().decode(entries.find(({ header }) => header.name === name)?.data);

const restore = async (file: string, ...more: readonly string[]) => {
  const to = join(temporaryHome(), "restored");
  return { to, ...(await run(["restore", file, "--to", to, ...more], { home })) };
};

test("files with names that are not safe on every system are named and left out, and the others restored", async () => {
  const own = await madeHome();
  for (const name of ["readme.md", "README.md", "aux.md", "a\\b.md"]) writeFileSync(join(own, "agent", name), name);
  const file = join(own, "odd.tar.gz");
  const { code, out, err } = await run(["backup", file], { home: own });
  expect([code, err]).toEqual([0, ""]);
  const named = [...out.matchAll(/^.*agent\/(.*) was left out: its name is not safe on every system\./gm)];
  expect(named.map(([, name]) => name).sort()).toEqual(["a\\b.md", "aux.md", "readme.md"]);
  const to = join(own, "restored");
  expect((await run(["restore", file, "--to", to], { home: own })).code).toBe(0);
  expect(readdirSync(join(to, "workspaces", "default")).sort()).toEqual(["MEMORY.md", "README.md", "deep"]);
});

test("a backup is a private tar.gz with database, configuration, transforms, workspace and media", async () => {
  const entries = await open(archive);
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  expect(entries.map(({ header }) => header.name)).toEqual([
    "manifest.json",
    "config.jsonc",
    "state/state.db",
    "state/botchat/",
    "state/botchat/default/identity.json",
    "state/botchat/default/media/photo.jpg",
    "transforms/",
    "transforms/alert.ts",
    "workspaces/default/",
    "workspaces/default/MEMORY.md",
    "workspaces/default/deep/er/file.txt",
    "checksums.json",
  ]);
});

test("without --with-secrets, a backup has no secret, and the rest of the configuration stays as it was", async () => {
  const bytes = gunzipSync(readFileSync(archive)).toString("latin1");
  const secrets = [botToken, hookToken, "the-token-of-the-gateway", "the session of a linked device"];
  for (const secret of secrets) expect(bytes).not.toContain(secret);
  const config = textOf(await open(archive), "config.jsonc");
  expect(config).toContain("// The bot of the family.");
  expect(config).toContain('"token": { "file": "hook-token" }');
  expect(config).toMatch(/"workspace": "workspaces\/default" \} \}, \/\/ where it works/);
});

test("--with-secrets adds them, --without-media leaves out media, and --json says what is in the file", async () => {
  const file = join(home, "with-secrets.tar.gz");
  const { code, out } = await run(["backup", file, "--with-secrets", "--without-media", "--json"], { home });
  expect([code, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({ file, files: 8, skipped: 1, withSecrets: true, withMedia: false }),
  ]);
  const entries = await open(file);
  expect(entries.map(({ header }) => header.name)).not.toContain("state/botchat/default/media/photo.jpg");
  expect(textOf(entries, "secrets/hooks.token").trim()).toBe(hookToken);
  expect(textOf(entries, "state/gateway-token")).toContain("the-token-of-the-gateway");
  expect(textOf(entries, "config.jsonc")).toContain(botToken);
  const restored = await restore(file, "--json");
  expect(JSON.parse(restored.out)).toMatchObject({
    restored: true,
    missing: ["models.providers.local.apiKey: set the environment variable MODEL_KEY"],
  });
});

test("an existing file is replaced with --force only, and what a killed backup left is removed", async () => {
  const directory = temporaryHome();
  const file = join(directory, "there.tar.gz");
  writeFileSync(file, "mine");
  const refused = await run(["backup", file], { home });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("it exists already")]);
  expect(readFileSync(file, "utf8")).toBe("mine");
  // No process has this number.
  mkdirSync(join(directory, ".there.tar.gz.4194999.new"));
  writeFileSync(join(directory, ".there.tar.gz.4194999.new", "state.db"), "half");
  expect((await run(["backup", file, "--force"], { home })).code).toBe(0);
  expect((await open(file)).length).toBeGreaterThan(5);
  expect(readdirSync(directory)).toEqual(["there.tar.gz"]);
});

test("progress is a line each second for a person, and nothing for a program", () => {
  const notes: string[] = [];
  let at = 0;
  const context = { terminal: { note: (text: string) => notes.push(text) } as unknown as Terminal, now: () => at };
  const [seen, unseen] = [backupProgress(context, true), backupProgress(context, false)];
  for (at = 0; at <= 2_500; at += 250) for (const show of [seen, unseen]) show("copying the database", at, 5_000);
  seen("adding files", 3);
  expect(notes).toEqual(["copying the database: 20 %", "copying the database: 40 %"]);
});

test("a restored directory has the state, and the command names the secrets that are missing", async () => {
  const { to, code, out } = await restore(archive);
  expect(code).toBe(0);
  const store = await openSqliteStore({ directory: to, now: Date.now });
  expect(await store.get("plugin", "key")).toEqual({ remembered: true });
  await store.close();
  expect(readFileSync(join(to, "workspaces/default/deep/er/file.txt"), "utf8")).toBe("deep");
  expect(readFileSync(join(to, "botchat/default/media/photo.jpg"), "utf8")).toBe("a photo");
  expect(statSync(join(to, "state.db")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(to, "workspaces/default/link"))).toBe(false);
  expect(out).toContain(`channels.botchat.botToken: write the secret to ${to}/secrets/channels.botchat.botToken`);
  expect(out).toContain(`hooks.token: write the secret to ${to}/hook-token`);
  expect(out).toContain("models.providers.local.apiKey: set the environment variable MODEL_KEY");
  expect(out).toMatch(/gateway --state \S+\/restored --config \S+\/restored\/config\.jsonc\n$/);
  const valid = await run(["config", "validate", "--config", join(to, "config.jsonc")], {
    home,
    env: { MODEL_KEY: "k" },
  });
  expect(valid.out + valid.err).toContain("channels.botchat.botToken: the secret cannot be read");
});

test("a dry run prints the same and writes nothing", async () => {
  const { to, code, out } = await restore(archive, "--dry-run");
  expect([code, existsSync(to)]).toEqual([0, false]);
  expect(out).toMatch(/Would write to \S+:\n {2}config\.jsonc +1 file +\d+ bytes\n {2}state\.db +1 file /);
  expect(out).toMatch(/Nothing was written\.\n$/);
});

test("only an empty directory without a gateway is written to", async () => {
  const full = temporaryHome();
  writeFileSync(join(full, "mine.txt"), "mine");
  const refused = await run(["restore", archive, "--to", full], { home });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("it is not empty: it contains mine.txt.")]);
  const used = temporaryHome();
  const lock = lockState(used);
  try {
    const locked = await run(["restore", archive, "--to", used], { home });
    expect([locked.code, locked.err]).toEqual([1, expect.stringContaining("Another gateway (process ")]);
  } finally {
    lock.release();
  }
});

test("a backup that was cut off or changed is refused in one sentence, wherever that was", async () => {
  const bytes = readFileSync(archive);
  const file = join(temporaryHome(), "damaged.tar.gz");
  const attempt = async (content: Uint8Array) => {
    writeFileSync(file, content);
    const { to, code, err } = await restore(file);
    expect([code, existsSync(join(to, "state.db")), existsSync(join(to, ".restoring"))]).toEqual([1, false, false]);
    return err.split("\n")[0];
  };
  for (const part of [0.1, 0.5, 0.99])
    expect(await attempt(bytes.subarray(0, bytes.length * part))).toMatch(/is damaged: it was cut off\.$/);
  expect(await attempt(Buffer.alloc(0))).toMatch(/is damaged: it is empty\.$/);
  expect(await attempt(Buffer.from("PK\u0003\u0004"))).toMatch(/is refused: it is not a tar file in gzip\.$/);
  const tar = Buffer.from(gunzipSync(bytes));
  const at = tar.indexOf("# Notes");
  tar.write("# Liars", at);
  expect(await attempt(gzipSync(tar))).toMatch(
    /is damaged: "workspaces\/default\/MEMORY\.md" differs from its checksum\.$/,
  );
});

interface Made {
  readonly name: string;
  readonly type?: "file" | "directory" | "symlink" | "link" | "fifo";
  readonly linkname?: string;
}

/** A backup as an attacker would make it: with a sound manifest and sound checksums. */
async function forged(entries: readonly Made[], manifest: object = {}): Promise<string> {
  const file = join(temporaryHome(), "forged.tar.gz");
  const genuine = JSON.parse(textOf(await open(archive), "manifest.json")) as object;
  const texts = new Map([["manifest.json", JSON.stringify({ ...genuine, ...manifest })]]);
  const headers = entries.map(({ name, type = "file", linkname }) => {
    const size = type === "file" ? 4 : 0;
    if (type === "file") texts.set(name, "evil");
    return {
      header: { name, type, size, ...(linkname === undefined ? {} : { linkname }) },
      body: size === 0 ? "" : "evil",
    };
  });
  const sums = Object.fromEntries(
    [...texts].map(([name, text]) => [
      name,
      { size: text.length, sha256: createHash("sha256").update(text).digest("hex") },
    ]),
  );
  const text = (name: string, body: string) => ({ header: { name, size: Buffer.byteLength(body) }, body });
  const tar = await packTar([
    text("manifest.json", texts.get("manifest.json") ?? ""),
    ...headers,
    text("checksums.json", JSON.stringify(sums)),
  ]);
  writeFileSync(file, gzipSync(tar));
  return file;
}

test.for<readonly [string, readonly Made[], RegExp]>([
  ["a path that leads out", [{ name: "workspaces/../../evil" }], /its path leads out of the directory/],
  ["an absolute path", [{ name: "/tmp/evil" }], /its path is absolute/],
  ["a path of Windows", [{ name: "workspaces\\..\\evil" }], /contains a backslash/],
  ["a drive", [{ name: "C:/evil" }], /its path is absolute/],
  ["a symbolic link", [{ name: "workspaces/a", type: "symlink", linkname: "/etc" }], /is a symlink, not a file/],
  ["a hard link", [{ name: "workspaces/a", type: "link", linkname: "/etc/passwd" }], /is a link, not a file/],
  ["a pipe", [{ name: "workspaces/a", type: "fifo" }], /is a fifo, not a file/],
  ["a file twice", [{ name: "workspaces/a" }, { name: "workspaces/A" }], /contains "workspaces\/A" twice/],
  ["the address of a gateway", [{ name: "state/gateway.json" }], /a backup contains no such file/],
  ["a file of another kind", [{ name: ".ssh/authorized_keys" }], /a backup contains no such file/],
  ["another configuration", [{ name: "state/config.jsonc" }], /a backup contains no such file/],
])("%s in a backup is refused before anything is written", async ([, entries, reason]) => {
  const { to, code, err } = await restore(await forged(entries));
  expect([code, existsSync(to)]).toEqual([1, false]);
  expect(err).toMatch(reason);
});

test.for<readonly [string, object]>([
  ["version of the program", { version: "99.0.0" }],
  ["version of the tables", { schema: 9_999 }],
  ["layout", { format: 2 }],
])("a backup with a newer %s is refused", async ([, manifest]) => {
  const { to, code, err } = await restore(await forged([], manifest));
  expect([code, existsSync(to)]).toEqual([1, false]);
  expect(err).toMatch(/was made by a newer version \(\S+; this is \S+\)\.\n.*npm install -g/);
});

test("a forged backup without a fault in it is restored, so each refusal above has its own reason", async () => {
  const { to, code } = await restore(await forged([{ name: "workspaces/a/b.txt" }]));
  expect([code, readFileSync(join(to, "workspaces/a/b.txt"), "utf8")]).toEqual([0, "evil"]);
});

test("what a backup says of itself cannot act on the terminal", async () => {
  const active = "\u001b[2J";
  const changed = [{ path: `gateway.port${active}`, value: active }];
  const said = { createdAt: `2026-01-01 (${active})`, version: `0.1.0${active}`, store: active, leftOut: [active] };
  const secrets = [{ path: active, variable: `A${active}` }];
  const { code, out, err } = await restore(await forged([], { ...said, changed, secrets }), "--dry-run");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("gateway.port\\u001b[2J");
  expect(out).not.toContain("\u001b");
});

test("a database that a gateway made while the backup was restored is not replaced", async () => {
  const directory = join(temporaryHome(), "restored");
  const options = { file: archive, directory, known: { version: packageVersion(), schema: knownSchema } };
  const examined = await examineBackup(options);
  const onProgress = () => writeFileSync(join(directory, "state.db"), "of a gateway");
  await expect(restoreBackup({ ...options, examined, onProgress })).rejects.toThrow(/it is not empty/);
  expect(readdirSync(directory)).toEqual(["state.db"]);
  expect(readFileSync(join(directory, "state.db"), "utf8")).toBe("of a gateway");
});

test("a backup that is written into a workspace contains no copy of the database there", async () => {
  const { code, err } = await run(["backup", join(home, "agent", "mine.tar.gz")], { home });
  expect([code, err]).toEqual([0, ""]);
  const names = (await open(join(home, "agent", "mine.tar.gz"))).map(({ header }) => header.name);
  rmSync(join(home, "agent", "mine.tar.gz"));
  expect(names).toContain("state/state.db");
  expect(names.filter((name) => name.includes("mine.tar.gz"))).toEqual([]);
});
