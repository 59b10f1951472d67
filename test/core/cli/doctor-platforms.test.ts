import { expect, test } from "vitest";
import type { ProbeReport } from "../../../core/channels/connection/probe.ts";
import type { CheckInput } from "../../../core/cli/doctor/check-input.ts";
import { checkGateway } from "../../../core/cli/doctor/machine.ts";
import { checkPlatforms } from "../../../core/cli/doctor/platforms.ts";

const report = (account: string, id: string): ProbeReport => ({
  channel: "chat",
  account,
  path: `channels.chat.accounts.${account}`,
  probe: { ok: true, detail: `it is ${id}`, identity: { id } },
  groups: [],
  unprobed: [],
  misnamed: [],
  names: [],
  groupNames: [],
});

test("two accounts without an identity in their options are found to be one bot when the platform says so", () => {
  const probes = [report("a", "1"), report("b", "2"), report("c", "1")];
  const found = checkPlatforms({ probes, accounts: probes } as unknown as CheckInput);
  expect(found).toMatchObject([
    {
      verdict: "fail",
      path: "channels.chat.accounts.c",
      reason: expect.stringContaining("chat:a and chat:c are the same bot (1)"),
    },
  ]);
});

test("an account whose platform loses what people write meanwhile says so, and others do not", () => {
  const probes = [report("a", "1"), report("b", "2"), report("c", "3")];
  const keeps = [false, { hours: 24 }, undefined];
  const accounts = probes.map((one, index) => ({
    ...one,
    settings: { capabilities: { maxChars: 9, keepsWhileAway: keeps[index] } },
  }));
  expect(checkPlatforms({ probes, accounts } as unknown as CheckInput)).toMatchObject([
    {
      verdict: "ok",
      reason:
        "chat:a is it is 1, and what people write while the gateway is down is lost; chat:b is it is 2; " +
        "chat:c is it is 3",
    },
  ]);
});

test("a fix is one or two sentences, each with one full stop", () => {
  const details = ["it is away: check the network", "it is away: Check the network. It is tried again."];
  const probes = details.map((detail, index) => ({
    ...report(String(index), String(index)),
    probe: { ok: false, detail },
  }));
  expect(checkPlatforms({ probes, accounts: probes } as unknown as CheckInput)).toMatchObject([
    { reason: "chat:0: it is away", fix: "Check the network." },
    { reason: "chat:1: it is away", fix: "Check the network. It is tried again." },
  ]);
});

test("an account on standby is not a fault of its node, because another node receives for it", async () => {
  const account = {
    channel: "chat",
    account: "a",
    path: "channels.chat",
    status: { state: "waiting", detail: "another node receives" },
  };
  const check = (accounts: readonly object[]) =>
    checkGateway({
      gateway: { pid: 1, url: "http://127.0.0.1:1" },
      description: { configFile: "c", accounts },
      loaded: { file: "c" },
      accounts: [],
      probes: [],
    } as unknown as CheckInput);
  expect(await check([{ ...account, standby: true }])).toMatchObject([{ verdict: "ok" }]);
  expect(await check([account])).toMatchObject([{ verdict: "fail" }]);
});
