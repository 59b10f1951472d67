import { appendFileSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createPairing } from "../../../core/access/pairing.ts";
import { programCommand } from "../../../core/contract/command.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const now = () => Date.now();

/** A home whose state was filled by `fill`, and no gateway. */
async function homeWith(fill: (store: Store) => Promise<void>): Promise<string> {
  const home = temporaryHome();
  const store = await openSqliteStore({ directory: join(home, ".service"), now });
  await store.begin(now());
  await fill(store);
  await store.close();
  return home;
}

async function ask(store: Store, senderId: string, senderName: string): Promise<string> {
  const address = { channel: "chat", account: "default", chat: senderId };
  return (
    (await createPairing({ store, now }).request({ address, senderId, senderName, unit: `asked-by-${senderId}` }))
      ?.code ?? ""
  );
}

/** An event that ended as a stranger's does. */
async function refusedEvent(store: Store, id: string): Promise<void> {
  const at = now() - 60_000;
  await store.accept({
    id,
    at,
    event: { source: "chat", kind: "update", account: "default", lane: "chat:42", authority: "channel", body: {} },
  });
  const { unit } = await store.claim("chat:42", { now: now(), limit: 10 });
  await store.settle({
    unitId: unit?.id ?? "",
    at: at + 12,
    outcome: "refused",
    reason: "sender_not_allowed",
    decisions: [
      {
        at: at + 5,
        station: "ingress",
        plugin: "chat",
        verdict: "pass",
        code: "message",
        detail: "chat: Ann (42) in a direct chat",
      },
      {
        at: at + 10,
        station: "gating",
        plugin: "core",
        verdict: "refused",
        code: "sender_not_allowed",
        path: "channels.chat.allowFrom",
        hint: 'Add "42" to channels.chat.allowFrom.',
      },
    ],
  });
}

describe("without a gateway", () => {
  test("commands that need a state report in one sentence that it is missing", async () => {
    const home = temporaryHome();
    for (const args of [
      ["why"],
      ["pairing", "list", "chat"],
      ["hooks", "deliveries"],
      ["hooks", "show", "last"],
      ["hooks", "replay", "last"],
      ["sessions", "list"],
      ["sessions", "show", "last"],
    ]) {
      const { code, out, err } = await run(args, { home });
      expect([code, out]).toEqual([1, ""]);
      expect(err).toBe(
        `error: The directory ${join(home, ".service")} does not contain any state yet.\n       Start a ` +
          `gateway with \`${programCommand} gateway\` or \`${programCommand} dev\`, or pass its directory ` +
          `with --state.\n`,
      );
    }
  });

  test("reading a directory with only a configuration does not create a state in it", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service");
    mkdirSync(directory);
    writeFileSync(join(directory, "config.jsonc"), "{}");
    expect((await run(["status"], { home })).code).toBe(0);
    expect((await run(["why"], { home })).err).toContain("does not contain any state yet");
    expect(readdirSync(directory)).toEqual(["config.jsonc"]);
  });

  test("a broken configuration does not block reading: the state path comes from its readable part", async () => {
    const home = await homeWith((store) => refusedEvent(store, "event-1"));
    const directory = join(home, ".service");
    writeFileSync(join(directory, "config.jsonc"), "{ broken");
    const told = { code: 0, out: expect.stringContaining("sender_not_allowed") };
    const why = await run(["why"], { home });
    expect(why).toMatchObject(told);
    expect(why.err).toMatch(/config\.jsonc:1:3: [^\n]+\. The state is read anyway: \S+\/\.service\.\n$/);
    expect(await run(["why", "--state", directory], { home })).toMatchObject({ ...told, err: "" });
    const status = await run(["status"], { home });
    expect(status).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^gateway +not running\nconfig +\S+\n +\S+config\.jsonc:1:3: /),
    });
    expect(JSON.parse((await run(["status", "--json"], { home })).out)).toMatchObject({
      configError: expect.stringContaining("config.jsonc:1:3"),
      events: { settled: { refused: 1 } },
    });
    const elsewhere = join(temporaryHome(), "elsewhere.jsonc");
    writeFileSync(elsewhere, `{ "state": { "dir": ${JSON.stringify(directory)} }, "hooks": [`);
    expect(await run(["events", "list", "--config", elsewhere], { home: temporaryHome() })).toMatchObject(told);
    // What would change something does not guess.
    expect(await run(["gateway", "--config", elsewhere], { home })).toMatchObject({ code: 1 });
  });

  test("state copy treats an invalid target as a typing error, not as a directory", async () => {
    const home = await homeWith(async (store) => refusedEvent(store, "e"));
    const copy = async (to: string) => (await run(["state", "copy", "--to", to], { home })).err;
    expect(await copy("")).toMatch(/^error: --to: is empty; name a directory, or an address such as /);
    expect(await copy("sqlite:///tmp/copy")).toMatch(
      /^error: --to: SQLite is named by its directory alone, without sqlite:/,
    );
    expect(await copy("postgres:/host/state")).toMatch(
      /^error: --to: "postgres:" begins no address; write postgres:\/\/USER@HOST\/DATABASE, /,
    );
    expect(await copy("postgresql://host/state")).toMatch(/there is no store postgresql\.\n +Did you mean postgres\?/);
    expect(await copy("postgres://127.0.0.1:1/state")).toMatch(
      /connect ECONNREFUSED .*\n +Check that the database runs, and .* of --to\./,
    );
  });

  test("status works and says that no gateway is running", async () => {
    const { code, out } = await run(["status"], { home: temporaryHome() });
    expect(code).toBe(0);
    expect(out).toMatch(/^gateway {2}not running\n/);
  });

  test("why explains an event: sender, station, setting, and what to change", async () => {
    const home = await homeWith((store) => refusedEvent(store, "event-1"));
    const { code, out } = await run(["why", "last"], { home });
    expect(code).toBe(0);
    expect(out).toMatch(/^refused \(sender_not_allowed\) after 12 ms\n/);
    expect(out).toContain("chat: Ann (42) in a direct chat");
    expect(out).toContain("decided by channels.chat.allowFrom");
    expect(out).toContain('to change  Add "42" to channels.chat.allowFrom.');
    expect(out).toMatch(/\(1 min ago\)/);
  });

  test("why accepts the beginning of an id and says when it is ambiguous or unknown", async () => {
    const home = await homeWith(async (store) => {
      await refusedEvent(store, "event-1");
      await refusedEvent(store, "event-2");
    });
    const json = await run(["why", "event-1", "--json"], { home });
    expect(JSON.parse(json.out)).toMatchObject({
      id: "event-1",
      outcome: "refused",
      decisions: [{ station: "ingress" }, { station: "gating" }],
    });
    expect(await run(["why", "eve"], { home })).toMatchObject({
      code: 2,
      err: expect.stringContaining('2 events begin with "eve"'),
    });
    expect(await run(["why", "nothing"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining("The event nothing does not exist."),
    });
  });

  test("why last skips events that followed from another event", async () => {
    const home = await homeWith(async (store) => {
      await refusedEvent(store, "event-1");
      const event = { source: "hooks", kind: "summary", lane: "main", authority: "hook", body: {} } as const;
      await store.accept({ id: "event-2", at: now(), event });
    });
    expect(JSON.parse((await run(["why", "--json"], { home })).out)).toMatchObject({ id: "event-1" });
  });

  test("why last shows a webhook request that was refused after the last event", async () => {
    const home = await homeWith(async (store) => {
      await refusedEvent(store, "event-1");
      const refused = {
        at: now(),
        code: "unauthorized",
        status: 401,
        detail: "The hook token is missing or wrong.",
        subPath: "wake",
        client: "10.1.2.3",
      };
      await store.set("hooks", "refused", [refused]);
    });
    const { out } = await run(["why"], { home });
    expect(out).toMatch(/^refused \(unauthorized\) with 401\n/);
    expect(out).toContain("10.1.2.3");
    expect(out).toContain("decided by hooks.token");
    expect((await run(["why", "event-1"], { home })).out).toContain("sender_not_allowed");
  });

  test("a body of the wrong type names no deciding mapping if the endpoint is the gateway's own", async () => {
    const home = await homeWith(async (store) => {
      const detail = "Content-Type must be application/json.";
      const refused = {
        at: now(),
        code: "unsupported_media_type",
        status: 415,
        detail,
        subPath: "agent",
        client: "10.1.2.3",
      };
      await store.set("hooks", "refused", [refused]);
    });
    const { out } = await run(["why"], { home });
    expect(out).toContain("to change  Configure the sender to declare application/json");
    expect(out).not.toContain("decided by");
  });

  test("pairing: a request is listed, approved once in upper or lower case, and can be revoked", async () => {
    let code = "";
    const home = await homeWith(async (store) => {
      code = await ask(store, "42", "Ann");
    });
    const listed = await run(["pairing", "list", "chat"], { home });
    expect(listed.out).toContain(code);
    expect(listed.out).toContain("in 1 h");

    const approved = await run(["pairing", "approve", "chat", code.toLowerCase()], { home });
    expect(approved).toMatchObject({
      code: 0,
      out:
        "Ann (42) may write to chat (account default), and is an owner now.\nThe bot notifies them when " +
        "the gateway runs again.\n",
    });
    const notice = JSON.parse((await run(["why", "last", "--json"], { home })).out) as object;
    expect(notice).toMatchObject({ source: "operator", kind: "notice", state: "waiting" });

    expect(await run(["pairing", "approve", "chat", code], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`No request for chat has the code ${code}.`),
    });
    const { approved: people } = JSON.parse((await run(["pairing", "list", "chat", "--json"], { home })).out) as {
      readonly approved: readonly object[];
    };
    expect(people).toMatchObject([{ senderId: "42", owner: true }]);

    expect(await run(["pairing", "revoke", "chat", "42"], { home })).toMatchObject({ code: 0 });
    expect(await run(["pairing", "revoke", "chat", "42"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining("The sender 42 is not approved for chat."),
    });
  });

  test("pairing: --no-notify sends the sender no notice, --notify does, --account selects one account", async () => {
    const codes: string[] = [];
    const home = await homeWith(async (store) => {
      for (const sender of ["42", "43"]) codes.push(await ask(store, sender, "Ann"));
    });
    const [first = "", second = ""] = codes;
    expect(await run(["pairing", "deny", "chat", first, "--account", "work"], { home })).toMatchObject({ code: 1 });
    expect((await run(["pairing", "approve", "chat", first, "--no-notify"], { home })).out).toMatch(
      /They are not notified\.\n$/,
    );
    expect((await run(["why", "last"], { home })).code).toBe(1);
    expect((await run(["pairing", "approve", "chat", second, "--notify"], { home })).out).toContain(
      "The bot notifies them when",
    );
    expect(JSON.parse((await run(["why", "last", "--json"], { home })).out)).toMatchObject({
      kind: "notice",
      state: "waiting",
    });
  });

  test("pairing: commands.ownerAllowFrom is the whole list if set, and pairing adds no owner to it", async () => {
    let code = "";
    const home = await homeWith(async (store) => {
      code = await ask(store, "42", "Ann");
    });
    writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify({ commands: { ownerAllowFrom: [] } }));
    expect(await run(["pairing", "approve", "chat", code, "--owner"], { home })).toMatchObject({
      code: 2,
      err: expect.stringContaining("commands.ownerAllowFrom is set"),
    });
    expect((await run(["pairing", "approve", "chat", code], { home })).out).toMatch(
      /^Ann \(42\) may write to chat \(account default\)\.\n/,
    );
  });

  test("pairing: a denied code can no longer be approved", async () => {
    let code = "";
    const home = await homeWith(async (store) => {
      code = await ask(store, "42", "Ann");
    });
    expect(await run(["pairing", "deny", "chat", code], { home })).toMatchObject({
      code: 0,
      out: "The request of Ann (42) was denied. They can ask again.\n",
    });
    expect(await run(["pairing", "approve", "chat", code], { home })).toMatchObject({ code: 1 });
  });

  test("pairing: a misspelled channel or account is reported; the case of an account is ignored", async () => {
    let code = "";
    const home = await homeWith(async (store) => {
      const address = { channel: "chat", account: "work", chat: "42" };
      code = (await createPairing({ store, now }).request({ address, senderId: "42", unit: "u" }))?.code ?? "";
    });
    writeFileSync(
      join(home, ".service", "config.jsonc"),
      JSON.stringify({ channels: { chat: { accounts: { Work: {}, home: {} } } } }),
    );
    expect((await run(["pairing", "list", "telegramm"], { home })).err).toBe(
      "There is no channel telegramm in the configuration. Configured channels: chat.\n",
    );
    expect(await run(["pairing", "approve", "chat", code, "--account", "wrok"], { home })).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^chat has no account wrok; configured accounts: work, home\.\nerror: No request for chat/,
      ),
    });
    const approved = await run(["pairing", "approve", "chat", code, "--account", "WORK"], { home });
    expect(approved).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringContaining("may write to chat (account work)"),
    });
  });

  test("logs shows the last lines at a given level, as text or as JSON", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service", "logs");
    mkdirSync(directory, { recursive: true });
    const line = (level: number, msg: string) => JSON.stringify({ level, time: 1_795_000_000_000, event: "e1", msg });
    writeFileSync(
      join(directory, "gateway.log"),
      [line(30, "first"), line(40, "second"), line(30, "third"), '{"level":30,"ti'].join("\n"),
    );
    expect((await run(["logs"], { home })).out.trimEnd().split("\n")).toHaveLength(3);
    expect((await run(["logs", "-n", "1"], { home })).out).toContain("third");
    expect((await run(["logs", "-n", "0"], { home })).out).toBe("");
    const { out } = await run(["logs", "--level", "warn", "--json"], { home });
    expect(JSON.parse(out)).toMatchObject({ msg: "second" });
  });

  test("logs shows the date of a line and all lines since a given time, including the previous file", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service", "logs");
    mkdirSync(directory, { recursive: true });
    const midnight = new Date(Date.parse("2026-11-20T00:00:00Z")).getTime();
    const line = (at: number, msg: string) => `${JSON.stringify({ level: 30, time: at, msg })}\n`;
    writeFileSync(join(directory, "gateway.log.1"), line(midnight - 1, "the day before") + line(midnight, "first"));
    const many = Array.from({ length: 150 }, (_, n) => line(midnight + 1_000 * (n + 1), `line ${n}`)).join("");
    writeFileSync(join(directory, "gateway.log"), many);
    const since = await run(["logs", "--since", "2026-11-20"], { home });
    const lines = since.out.trimEnd().split("\n");
    expect(lines).toHaveLength(151);
    expect(lines[0]).toBe("2026-11-20 00:00:00 info  first");
    expect(lines.at(-1)).toBe("2026-11-20 00:02:30 info  line 149");
    expect((await run(["logs"], { home })).out.trimEnd().split("\n")).toHaveLength(100);
    expect((await run(["logs", "--since", "2026-11-20T00:02:00", "-n", "2"], { home })).out).toMatch(
      /^[^\n]*line 148\n[^\n]*line 149\n$/,
    );
    expect((await run(["logs", "--since", "1h"], { home })).out).toBe("");
    expect(await run(["logs", "--since", "soon"], { home })).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        '--since: "soon" is not a time: write 30m, 2h, 3d, today, yesterday, 2026-11-20 or 2026-11-20T14:00.',
      ),
    });
  });

  test("logs --follow shows new lines at its level, also after the file is rotated", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service", "logs");
    const file = join(directory, "gateway.log");
    mkdirSync(directory, { recursive: true });
    const line = (level: number, msg: string) => `${JSON.stringify({ level, time: 1_795_000_000_000, msg })}\n`;
    writeFileSync(file, line(40, "before"));
    const following = start(["logs", "--follow", "--level", "warn"], { home });
    await following.until(/before/);
    appendFileSync(file, line(30, "too quiet") + line(40, "appended"));
    await following.until(/appended/);
    // Longer than what is read at once, and its characters take several bytes.
    appendFileSync(file, line(40, `long ${"ä".repeat(70_000)}`) + line(40, "after the long one"));
    await following.until(/after the long one/);
    appendFileSync(file, line(40, "the last one there"));
    renameSync(file, `${file}.1`);
    writeFileSync(file, line(50, "in the next file"));
    const shown = await following.until(/in the next file/);
    expect(shown).toContain("the last one there");
    expect(shown).not.toContain("too quiet");
  });

  test("logs shows as many lines right after a rotation, and --level finds lines far back", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service", "logs");
    mkdirSync(directory, { recursive: true });
    const line = (level: number, msg: string) => `${JSON.stringify({ level, time: 1_795_000_000_000, msg })}\n`;
    writeFileSync(
      join(directory, "gateway.log.1"),
      line(50, "far back") + line(30, "x".repeat(1_100_000)) + line(30, "before"),
    );
    writeFileSync(join(directory, "gateway.log"), line(30, "after"));
    expect((await run(["logs", "-n", "2"], { home })).out).toMatch(/^[^\n]*before\n[^\n]*after\n$/);
    expect((await run(["logs", "--level", "error"], { home })).out).toContain("far back");
  });

  test("logs escapes control characters that came from outside", async () => {
    const home = temporaryHome();
    const directory = join(home, ".service", "logs");
    mkdirSync(directory, { recursive: true });
    const fields = {
      level: 40,
      time: 1_795_000_000_000,
      msg: "refused\u001b[2J",
      detail: "a\n00:00:00 info  all is well\r\tb\u202ec",
      more: ["\u009b31m"],
    };
    writeFileSync(join(directory, "gateway.log"), `${JSON.stringify(fields)}\n`);
    const { out } = await run(["logs"], { home });
    expect(out).toContain(
      String.raw`refused\u001b[2J  detail=a\n00:00:00 info  all is well\r\tb\u202ec more=["\u009b31m"]`,
    );
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  });
});
