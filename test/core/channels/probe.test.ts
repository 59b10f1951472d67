import { afterEach, describe, expect, test, vi } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { type ProbedAccount, probeAccount } from "../../../core/channels/connection/probe.ts";
import type { ChannelConnection } from "../../../core/sdk/contract.ts";

afterEach(() => {
  vi.useRealTimers();
});

function account(connection: Partial<ChannelConnection>, access: ProbedAccount["access"] = {}): ProbedAccount {
  const identity = identityRule("irc", { prefixes: ["i"], pattern: "\\d+", groupPattern: "-\\d+" });
  return {
    channel: "irc",
    id: "default",
    path: "channels.irc",
    access,
    identity,
    connection: connection as ChannelConnection,
  };
}

const well = async () => ({ ok: true, detail: "there" });
const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`-${index + 1}`, {}]));

describe("probing an account", () => {
  test("reports nothing if the channel has no probe, and lists its groups as not checked", async () => {
    expect(await probeAccount(account({}, { groups: { "-1": {}, "*": {} } }))).toEqual({
      channel: "irc",
      account: "default",
      path: "channels.irc",
      groups: [],
      unprobed: ["-1", "*"],
      misnamed: [],
      names: [],
      groupNames: [],
    });
  });

  test("checks at most 50 groups, four at a time", async () => {
    let open = 0;
    let most = 0;
    const members = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return { ok: true, detail: "member" };
    };
    const report = await probeAccount(account({ probe: well, members }, { groups: many }));
    expect([report.groups.length, report.unprobed.length, most]).toEqual([50, 10, 4]);
  });

  test("waits for only one timeout if the platform does not respond", async () => {
    vi.useFakeTimers();
    const members = vi.fn(() => new Promise<never>(() => {}));
    const probing = probeAccount(account({ probe: well, members }, { groups: many, allowFrom: ["@ada"] }), {
      names: true,
    });
    await vi.advanceTimersByTimeAsync(15_000);
    const { groups, names } = await probing;
    expect(members).toHaveBeenCalledTimes(4);
    expect(groups.at(0)?.detail).toBe("there was no answer within 15 s");
    expect(groups.at(-1)?.detail).toMatch(/^it was not called/);
    expect(names).toEqual([{ name: "@ada", reason: "the channel cannot look up names" }]);
  });

  test("reports keys that cannot be group ids; a channel without an id format accepts any key", async () => {
    const access = { groups: { "-1": {}, "#bread": {}, "*": {} } };
    expect((await probeAccount(account({ probe: well }, access))).misnamed).toEqual(["#bread"]);
    const named = { ...account({ probe: well }, access), identity: identityRule("irc") };
    expect((await probeAccount(named)).misnamed).toEqual([]);
  });

  test("reports a probe that throws as a failure of the account and checks nothing further", async () => {
    const members = vi.fn(well);
    const probe = () => Promise.reject(new Error("no route"));
    const report = await probeAccount(account({ probe, members }, { groups: { "-1": {} } }));
    expect(report).toMatchObject({ probe: { ok: false, detail: "no route" }, groups: [], unprobed: ["-1"] });
    expect(members).not.toHaveBeenCalled();
  });

  test("resolves a name only to a person's id and a group key only to a chat's id", async () => {
    const ids: Readonly<Record<string, string>> = { "@ada": "7", "@room": "-9" };
    const resolve = async (name: string) => ids[name] ?? Promise.reject(new Error("nobody"));
    const access = { allowFrom: ["i:@ada", "@room", "@none", "plain"], groups: { "@room": {}, "@ada": {}, room: {} } };
    const { names, groupNames } = await probeAccount(account({ probe: well, resolve }, access), { names: true });
    expect(names).toEqual([
      { name: "i:@ada", id: "7" },
      { name: "@room", reason: "it is a chat (-9) and not a person" },
      { name: "@none", reason: "nobody" },
    ]);
    expect(groupNames).toEqual([
      { name: "@room", id: "-9" },
      { name: "@ada", reason: "it is a person (7) and not a group" },
    ]);
  });
});
