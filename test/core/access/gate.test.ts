import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGate, type Gate } from "../../../core/access/gate.ts";
import { identityRule } from "../../../core/access/identity.ts";
import { createPairing, type Pairing } from "../../../core/access/pairing.ts";
import type { AccountAccess } from "../../../core/access/policy.ts";
import type { LiveAccount } from "../../../core/channels/live-account.ts";
import type { GatewayConfig } from "../../../core/config/schema.ts";
import type { Inbound } from "../../../core/contract/types.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { passedBy, Visit } from "../../../core/stations/visit.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { message } from "../agents/inbound.ts";

let directory: string;
let store: Store;
let pairing: Pairing;
let clock: number;

beforeEach(async () => {
  directory = temporaryDirectory();
  clock = 1_000_000;
  store = await openSqliteStore({ directory, now: () => clock });
  pairing = createPairing({ store, now: () => clock });
});

afterEach(async () => {
  await store.close();
  removeDirectory(directory);
});

interface Setting {
  readonly access?: AccountAccess;
  readonly ownerAllowFrom?: readonly string[];
  readonly agents?: readonly object[];
  readonly mentionPatterns?: readonly string[];
  readonly channels?: object;
}

function gateFor({
  access = {},
  ownerAllowFrom,
  agents = [],
  mentionPatterns,
  channels = { irc: {} },
}: Setting): Gate & { invalid: string[] } {
  const invalid: string[] = [];
  const config = {
    agents: { list: agents },
    messages: { groupChat: { ...(mentionPatterns === undefined ? {} : { mentionPatterns }) } },
    commands: { ...(ownerAllowFrom === undefined ? {} : { ownerAllowFrom }) },
    channels,
  } as unknown as GatewayConfig;
  const live = { access, identity: identityRule("irc", { pattern: "\\d+" }) } as LiveAccount;
  const gate = createGate({
    config: () => config,
    account: (_channel, account) => (account === "gone" ? undefined : live),
    pairing,
    sentByAccount: ({ sender }) => (sender.id === "4243" ? "work" : undefined),
    agentFor: () => "main",
    activation: () => undefined,
    isControl: ({ text }) => text === "/stop",
    onInvalidPattern: (pattern, { path }) => invalid.push(`${path} ${pattern}`),
  });
  return { ...gate, invalid };
}

const inGroup = (text: string, more: Partial<Inbound> = {}) =>
  message(text, { chat: { id: "-5", kind: "group" }, ...more });

async function approve(account: string, senderId: string, owner = false): Promise<void> {
  const request = await pairing.request({
    address: { channel: "irc", account, chat: senderId },
    senderId,
    unit: `of-${senderId}`,
  });
  expect(await pairing.approve("irc", request?.code ?? "", { owner })).toMatchObject({ ok: true });
}

describe("an access check", () => {
  test("changes nothing, however often it runs; only the offer creates a pairing code", async () => {
    const gate = gateFor({});
    const inbound = message("hello");
    const visit = new Visit();
    const refused = await gate.check(inbound, visit);
    expect(refused).toMatchObject({ code: "pairing_required", path: "channels.irc.dmPolicy" });
    expect(await gate.check(inbound)).toEqual(refused);
    expect(await pairing.pending("irc")).toEqual([]);
    if (refused === undefined) return;
    const offered = await gate.offer(inbound, refused);
    const [pending] = await pairing.pending("irc");
    expect(offered.notice).toContain(`pairing approve irc ${pending?.code}`);
    expect(offered.hint).toContain(pending?.code);
    expect(visit.get(passedBy)).toBeUndefined();
  });

  test("records in the visit which rule let the sender in", async () => {
    const gate = gateFor({ access: { allowFrom: ["42"] } });
    const inbound = message("hello");
    const visit = new Visit();
    expect(await gate.check(inbound, visit)).toBeUndefined();
    expect(visit.get(passedBy)).toMatchObject({ code: "sender_allowed", path: "channels.irc.allowFrom" });
  });

  test("names the file entry that decided: the account's own or the root's", async () => {
    const channels = { irc: { dmPolicy: "disabled", accounts: { work: { groupPolicy: "disabled" } } } };
    const gate = gateFor({ access: { dmPolicy: "disabled", groupPolicy: "disabled" }, channels });
    expect(await gate.check(message("hello", { account: "work" }))).toMatchObject({ path: "channels.irc.dmPolicy" });
    expect(await gate.check(inGroup("hello", { account: "work" }))).toMatchObject({
      path: "channels.irc.accounts.work.groupPolicy",
    });
  });

  test("rejects messages of a removed account and accepts input that no person sent", async () => {
    const gate = gateFor({ access: { dmPolicy: "disabled" } });
    expect(await gate.check(message("hello", { account: "gone" }))).toMatchObject({ code: "account_gone" });
    for (const authority of ["hook", "operator"] as const) {
      const inbound = message("hello", {
        authority,
        account: "gone",
        channel: "hooks",
        chat: { id: "x", kind: "system" },
      });
      const visit = new Visit();
      expect(await gate.check(inbound, visit)).toBeUndefined();
      expect(visit.get(passedBy)?.code).toBe(authority === "hook" ? "authenticated" : "operator");
    }
  });
});

describe("a pairing offer", () => {
  const offerTo = async (gate: Gate, inbound: Inbound) => {
    const refused = await gate.check(inbound);
    return refused && (await gate.offer(inbound, refused));
  };

  test("is made only for messages from people, not for reactions, button presses, edits or bots", async () => {
    const gate = gateFor({});
    for (const kind of ["reaction", "press", "edit"] as const)
      expect((await offerTo(gate, message("x", { kind })))?.notice).toBeUndefined();
    expect((await offerTo(gate, message("x", { sender: { id: "9", isBot: true } })))?.notice).toBeUndefined();
    expect(await pairing.pending("irc")).toEqual([]);
  });

  test("is sent to the thread of the message, by the account that received it", async () => {
    const gate = gateFor({});
    const offered = await offerTo(
      gate,
      message("x", { account: "work", chat: { id: "42", kind: "direct", thread: "7" } }),
    );
    expect(offered?.notice).toMatch(/pairing approve irc [A-Z2-9]{8} --account work/);
    expect(await pairing.pending("irc", "work")).toMatchObject([
      { address: { chat: "42", thread: "7", account: "work" } },
    ]);
  });

  test("is withheld while a hundred other requests are recent, and the operator reads why", async () => {
    const gate = gateFor({});
    for (let id = 1; id <= 100; id += 1)
      await offerTo(gate, message("x", { id: String(id), sender: { id: String(id) } }));
    const next = await offerTo(gate, message("x", { id: "next", sender: { id: "next" } }));
    expect(next).toMatchObject({
      code: "pairing_full",
      path: "channels.irc.dmPolicy",
      hint: expect.stringContaining("pairing list irc"),
    });
    expect(next?.notice).toBeUndefined();
  });

  test("is sent once in ten minutes, and again when its event is rerun after a crash", async () => {
    const gate = gateFor({});
    const first = message("x", { id: "first" });
    expect((await offerTo(gate, first))?.notice).toBeDefined();
    expect((await offerTo(gate, message("x", { id: "second" })))?.notice).toContain("I wait for the owner's approval");
    expect((await offerTo(gate, message("x", { id: "third" })))?.notice).toBeUndefined();
    expect((await offerTo(gate, first))?.notice).toBeDefined();
  });
});

describe("the owners of an account", () => {
  const isOwner = (gate: Gate, id: string, more: Partial<Inbound> = {}) =>
    gate.isOwner(message("x", { sender: { id }, ...more }));

  test("are exactly those in commands.ownerAllowFrom once it is set", async () => {
    await approve("default", "9", true);
    const gate = gateFor({ access: { allowFrom: ["7"] }, ownerAllowFrom: ["irc:8"] });
    expect(await Promise.all(["7", "8", "9"].map((id) => isOwner(gate, id)))).toEqual([false, true, false]);
    expect(await isOwner(gateFor({ access: { allowFrom: ["7"] }, ownerAllowFrom: [] }), "7")).toBe(false);
  });

  test("are otherwise the explicit ids in allowFrom and the owners that pairing made for the account", async () => {
    await approve("default", "9");
    await approve("work", "10");
    const gate = gateFor({ access: { allowFrom: ["7", "*"] } });
    expect(await Promise.all(["7", "8", "9", "10"].map((id) => isOwner(gate, id)))).toEqual([true, false, true, false]);
    expect(await isOwner(gate, "10", { account: "work" })).toBe(true);
    expect(await isOwner(gate, "9", { account: "work" })).toBe(false);
  });

  test("never include anonymous senders, senders without an id, or hooks", async () => {
    const gate = gateFor({ access: { allowFrom: ["7", "*"] }, ownerAllowFrom: ["7", "*"] });
    expect(await gate.isOwner(message("x", { sender: { id: "7", anonymous: true } }))).toBe(false);
    expect(await isOwner(gate, "")).toBe(false);
    expect(await isOwner(gate, "7", { authority: "hook" })).toBe(false);
    expect(await isOwner(gate, "x", { authority: "operator" })).toBe(true);
  });
});

describe("a command", () => {
  const check = (gate: Gate, role: "anyone" | "allowed" | "owner", sender: Inbound["sender"]) =>
    gate.checkCommand(message("/keys", { sender }), { name: "keys", role });

  test("for owners is refused to other senders, naming the list that decides", async () => {
    const gate = gateFor({ access: { allowFrom: ["7"] } });
    expect(await check(gate, "owner", { id: "7" })).toBeUndefined();
    expect(await check(gate, "owner", { id: "8" })).toMatchObject({
      code: "owner_required",
      path: "channels.irc.allowFrom",
      hint: 'Add "8" to channels.irc.allowFrom.',
      notice: expect.stringMatching(/only the owner/i),
    });
    expect(await check(gateFor({ ownerAllowFrom: ["7"] }), "owner", { id: "8" })).toMatchObject({
      path: "commands.ownerAllowFrom",
    });
    expect(await check(gate, "allowed", { id: "8" })).toBeUndefined();
  });

  test("from an anonymous sender runs only if the command is open to anyone", async () => {
    const gate = gateFor({ access: { allowFrom: ["*"] } });
    const anonymous = { id: "-5", anonymous: true } as const;
    expect(await check(gate, "anyone", anonymous)).toBeUndefined();
    for (const role of ["allowed", "owner"] as const)
      expect(await check(gate, role, anonymous)).toMatchObject({ code: "command_needs_sender" });
  });
});

describe("mention patterns", () => {
  const access: AccountAccess = { groupPolicy: "open" };
  const heard = async (setting: Setting, text: string) =>
    (await gateFor({ access, ...setting }).check(inGroup(text))) === undefined;

  test("come from the agent, else from messages, else from the agent's name", async () => {
    const own = [{ id: "main", name: "Robo", groupChat: { mentionPatterns: ["own"] } }];
    const named = [{ id: "main", name: "Robo" }];
    const titled = [{ id: "main", name: "Robo", identity: { name: "Cat" } }];
    const mentionPatterns = ["shared"];
    expect(await heard({ agents: own, mentionPatterns }, "my own")).toBe(true);
    expect(await heard({ agents: own, mentionPatterns }, "shared robo")).toBe(false);
    expect(await heard({ agents: named, mentionPatterns }, "shared")).toBe(true);
    expect(await heard({ agents: named, mentionPatterns }, "robo")).toBe(false);
    expect(await heard({ agents: named }, "hey robo!")).toBe(true);
    expect(await heard({ agents: titled }, "hey cat!")).toBe(true);
    expect(await heard({ agents: titled }, "hey robo!")).toBe(false);
    expect(await heard({ agents: named, mentionPatterns: [] }, "hey robo!")).toBe(false);
    expect(await heard({}, "hey anybody")).toBe(false);
  });

  test("that do not parse are reported once, while the others still apply", async () => {
    const gate = gateFor({ access, mentionPatterns: ["(", "robo"] });
    for (const text of ["robo", "cat", "robo"]) await gate.check(inGroup(text));
    expect(gate.invalid).toEqual(["messages.groupChat.mentionPatterns ("]);
    const agents = [{ id: "other" }, { id: "main", groupChat: { mentionPatterns: ["["] } }];
    const own = gateFor({ access, agents });
    await own.check(inGroup("robo"));
    expect(own.invalid).toEqual(["agents.list[1].groupChat.mentionPatterns ["]);
    expect(await gate.check(inGroup("robo"))).toBeUndefined();
  });
});
