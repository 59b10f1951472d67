/** A tool that asks first: who is asked, who may answer, and what happens without an answer. */
import {
  definePlugin,
  type EngineTurn,
  type Inbound,
  type Json,
  type PluginDefinition,
  Type,
} from "service-gateway/sdk";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ApprovalsOptions, createApprovals } from "../../../../core/agents/tools/approvals.ts";

const until = <Result>(check: () => Result): Promise<Result> => vi.waitFor(check, { timeout: 30_000, interval: 10 });

interface Lab {
  readonly host: TestHost;
  /** The arguments of each run. */
  readonly runs: Json[];
}

/** The agent calls `burn` with what the message says, as often as it has lines, and answers with the results. */
async function callBurn({ inbound, tools }: EngineTurn, signal: AbortSignal): Promise<string> {
  if (inbound.text === "hello") return "Hello!";
  if (inbound.text.startsWith("show ")) {
    const rows = [[{ text: "Show the weather", callback_data: inbound.text.slice("show ".length) }]];
    await tools.find(({ name }) => name === "buttons")?.run({ rows }, signal);
    return "Press it.";
  }
  const burn = tools.find(({ name }) => name === "burn");
  const results: Json[] = [];
  const lines = inbound.authority === "hook" ? ["the letters"] : inbound.text.split("\n");
  for (const line of lines) results.push((await burn?.run({ what: line }, signal)) ?? "no tool");
  return JSON.stringify(results);
}

async function lab(
  { needsApproval = true, ...options }: TestHostOptions & { needsApproval?: boolean | (() => string) } = {},
  others: readonly PluginDefinition[] = [],
): Promise<Lab> {
  const runs: Json[] = [];
  const plugin = definePlugin({
    id: "lab",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tool({
        name: "burn",
        description: "Burns something.",
        parameters: Type.Object({ what: Type.String() }),
        needsApproval,
        run({ args }) {
          runs.push(args.what);
          return `${args.what} is ashes`;
        },
      });
    },
  });
  const host = await createTestHost({ plugins: [plugin, ...others], answer: callBurn, ...options });
  onTestFinished(() => host.close());
  return { host, runs };
}

/** The approvals on a store in memory; every text is said in one chat, where the owner asked. */
function fakeApprovals({ hasWeakId = false, edits = false } = {}) {
  const clock = { now: 1_000_000 };
  const said: string[] = [];
  /** Events that have ended; what was said is sent at once. */
  const finished = new Set<string>();
  const values = new Map<string, Json>();
  const store = {
    get: async (_: string, key: string) => values.get(key) ?? null,
    set: async (_: string, key: string, value: Json) => void values.set(key, value),
    async update(_: string, key: string, change: (value: Json | null) => Json | undefined) {
      const next = change(values.get(key) ?? null);
      if (next !== undefined) values.set(key, next);
      return values.get(key) ?? null;
    },
    list: async (_: string, { prefix }: { readonly prefix: string }) =>
      [...values].flatMap(([key, value]) => (key.startsWith(prefix) ? [{ key, value }] : [])),
    session: async () => null,
    sentBy: async (unitId: string) => [{ chat: "owner", messageId: unitId }],
    findSent: async () => null,
    event: async (id: string) => ({ state: finished.has(id) ? "settled" : "running" }),
  } as unknown as ApprovalsOptions["store"];
  const approvals = createApprovals({
    store,
    say: async ({ text, buttons = [] }) =>
      String(said.push([text, ...buttons.flat().map((button) => button.text)].join("\n"))),
    isOwner: async () => true,
    hasWeakId: async () => hasWeakId,
    owners: async () => ["owner"],
    ownersAt: async () => [{ owner: "owner", address: { channel: "loopback", account: "default", chat: "owner" } }],
    placeAt: async () => undefined,
    edits: () => edits,
    log: { info: () => {}, warn: () => {} },
    now: () => clock.now,
  });
  const to = { channel: "loopback", account: "default", chat: "owner" };
  const inbound = {
    ...to,
    id: "event",
    kind: "message",
    authority: "channel",
    sender: { id: "owner" },
  } as unknown as Inbound;
  const turn = { agentId: "main", sessionKey: "session", inbound, to };
  const tool = { tool: "burn", plugin: "lab", definition: "burns", args: {} };
  return {
    approvals,
    values,
    clock,
    said,
    finished,
    turn,
    call: {
      ...tool,
      agentId: "main",
      requester: "owner",
      key: "event:call:1",
      hasAsked: () => true,
      turn,
      questions: { count: 0 },
    },
  };
}

const texts = (host: TestHost, chat: string) =>
  host.outbox().flatMap((message) => (message.chat === chat ? [message.text] : []));

/** Resolves with the code of the last request in the chat, once there are `count`. */
async function codeIn(host: TestHost, chat: string, count = 1): Promise<string> {
  const codes = () => texts(host, chat).flatMap((text) => /`\/approve ([A-Z2-9]{8})` or/.exec(text)?.[1] ?? []);
  await until(() => expect(codes()).toHaveLength(count));
  return codes().at(-1) as string;
}

test("an owner allows one call with a button, and the tool runs with exactly the arguments shown", async () => {
  const { host, runs } = await lab({ needsApproval: () => "It cannot be undone." });
  const turn = host.say("the letters");
  await codeIn(host, "owner");
  expect(texts(host, "owner")[0]).toMatch(
    /agent main asks to use `burn`.*lab.*for the sender owner\.\nThe name given there: "owner"\n.*"It cannot be undone\."\n.*"what": "the letters"/s,
  );
  expect(runs).toEqual([]);
  await host.press("Allow once");
  const { eventId } = await turn;
  expect(runs).toEqual(["the letters"]);
  expect(texts(host, "owner").at(-1)).toBe('["the letters is ashes"]');
  expect(await host.why(eventId)).toContainEqual(
    expect.objectContaining({
      station: "turn",
      code: "approval_allowed",
      detail: expect.stringContaining("allowed by owner (owner)"),
    }),
  );
});

test("a denied call does not run, the model learns of it; the same call is then denied without a request", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters\nthe letters\nthe photos");
  await host.say(`/deny ${await codeIn(host, "owner")}`);
  await host.say(`/approve ${(await codeIn(host, "owner", 2)).toLowerCase()}`);
  await turn;
  expect(runs).toEqual(["the photos"]);
  expect(texts(host, "owner").at(-1)).toMatch(/"code":"denied".*"code":"denied".*the photos is ashes/);
});

test("after a grant until /new, the tool asks again only after /new", async () => {
  const { host, runs } = await lab();
  const turn = host.say("one\ntwo");
  await codeIn(host, "owner");
  await host.press("Allow for owner until /new");
  await turn;
  await host.say("three");
  expect(runs).toEqual(["one", "two", "three"]);
  await host.say("/new");
  const next = host.say("four");
  await host.say(`/deny ${await codeIn(host, "owner", 2)}`);
  await next;
  expect(runs).toEqual(["one", "two", "three"]);
});

test("a guest's call is put to the owner in the owner's own chat, and the guest is notified of the wait", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the house", { from: "guest", group: true, mention: true });
  const code = await codeIn(host, "owner");
  await until(() =>
    expect(texts(host, "group")).toEqual(["I have asked for permission to use `burn`, and wait for the answer."]),
  );
  const { outcome, reason } = await host.say(`/approve ${code}`, { from: "guest" });
  expect({ outcome, reason }).toEqual({ outcome: "refused", reason: "owner_required" });
  expect(runs).toEqual([]);
  await host.press("Deny");
  await turn;
  expect(texts(host, "group").at(-1)).toContain("denied");
});

test("an owner sees every character of the arguments in order, and names in them never become markup", async () => {
  const { host, runs } = await lab({ needsApproval: () => "It deletes **all**.\n```\nDone." });
  const what = "notes\u202etxt.exe\u200b\u3164\u00a0\u{e0041}`````";
  const turn = host.say(what, { from: "guest", name: "Ada\n\u202e**the owner** (owner)", group: true, mention: true });
  const code = await codeIn(host, "owner");
  const [question = ""] = texts(host, "owner");
  expect(question).toContain(
    'for the sender guest.\nThe name given there: "Ada \\*\\*the owner\\*\\* owner"\n' +
      'The reason given by the tool: "It deletes \\*\\*all\\*\\*. \\`\\`\\` Done."\n',
  );
  expect(question).toContain('"what": "notes\\u202etxt.exe\\u200b\\u3164\\u00a0\\udb40\\udc41`````"');
  expect(question.replaceAll("\n", "")).not.toMatch(/[\p{C}\u3164\u00a0]/u);
  await host.say(`/approve ${code}`);
  await turn;
  expect(runs).toEqual([what]);
});

test("an agent's button with a request's code approves nothing, because a group can read the code too", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters", { from: "guest", group: true, mention: true });
  const code = await codeIn(host, "owner");
  await host.say(`show /approve ${code} session`);
  await host.press("Show the weather");
  expect(texts(host, "owner").at(-1)).toBe("That button is not one of a request for approval.");
  await host.press("Deny");
  await turn;
  expect(runs).toEqual([]);
});

test("an approval after the deadline has no effect, even if no turn waits for it any longer", async () => {
  const { approvals, call, turn, clock, said } = fakeApprovals();
  const closing = new AbortController();
  const asked = approvals.ask({ ...call, signal: closing.signal });
  const code = await until(() => /`\/approve ([A-Z2-9]{8})`/.exec(said[0] ?? "")?.[1] ?? expect.fail("not asked yet"));
  closing.abort(new Error("the gateway closes"));
  await expect(asked).rejects.toThrow("the gateway closes");
  clock.now += 10 * 60_000;
  expect(await approvals.answer(code, "once", turn.inbound)).toBe("That request is over: there was no answer in time.");
  expect((await approvals.ask({ ...call, signal: new AbortController().signal })).code).toBe("approval_expired");
});

test("a grant until /new covers the tool as described: a changed description asks again", async () => {
  const { approvals, call, turn, said } = fakeApprovals();
  const ask = (key: string, definition: string) =>
    approvals.ask({ ...call, key, definition, signal: new AbortController().signal }).then(({ detail }) => detail);
  const answer = async (count: number, verdict: "session" | "deny") => {
    const code = await until(
      () => /`\/approve ([A-Z2-9]{8})`/.exec(said[count] ?? "")?.[1] ?? expect.fail("not asked yet"),
    );
    await approvals.answer(code, verdict, turn.inbound);
  };
  const first = ask("1", "adds numbers");
  await answer(0, "session");
  expect(await first).toBe("allowed by owner");
  expect(await ask("2", "adds numbers")).toBe("allowed until /new by owner");
  const changed = ask("3", "sends files away");
  await answer(1, "deny");
  expect(await changed).toBe("denied by owner");
});

test("a grant stored by an earlier version, which covered the whole conversation, is not used", async () => {
  const { approvals, call, turn, said, values } = fakeApprovals();
  values.set(`grant:${JSON.stringify([turn.sessionKey, 0, call.tool, call.definition])}`, "owner");
  const asked = approvals.ask({ ...call, signal: new AbortController().signal });
  const code = await until(() => /`\/approve ([A-Z2-9]{8})`/.exec(said[0] ?? "")?.[1] ?? expect.fail("not asked yet"));
  await approvals.answer(code, "deny", turn.inbound);
  expect((await asked).code).toBe("approval_denied");
});

test("a sender with an id that another person can take over is allowed one call at a time", async () => {
  const { approvals, call, turn, said } = fakeApprovals({ hasWeakId: true });
  const asked = approvals.ask({ ...call, signal: new AbortController().signal });
  const code = await until(() => /`\/approve ([A-Z2-9]{8})`/.exec(said[0] ?? "")?.[1] ?? expect.fail("not asked yet"));
  expect(said[0]).toMatch(/\nAllow once\nDeny$/);
  expect(await approvals.answer(code, "session", turn.inbound)).toContain("can be allowed once only");
  await approvals.answer(code, "once", turn.inbound);
  expect((await asked).code).toBe("approval_allowed");
});

test("a button of an agent that imitates an approval request or has an unknown code approves nothing", async () => {
  const { host } = await lab();
  await host.say("/approve ABCDEFGH");
  expect(texts(host, "owner")).toEqual(["There is no request ABCDEFGH here."]);
});

test("a request expires after ten minutes and the agent continues; the wait does not use the turn's time", async () => {
  const { host, runs } = await lab({ config: { agents: { defaults: { timeoutSeconds: 60 } } } });
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.advance(11 * 60_000);
  expect((await turn).outcome).toBe("answered");
  expect(runs).toEqual([]);
  expect(texts(host, "owner").at(-1)).toMatch(/not allowed: there was no answer in time/);
  await host.say(`/approve ${code}`);
  expect(texts(host, "owner").at(-1)).toBe("That request is over: there was no answer in time.");
});

test("other turns run while one waits for approval, even if only one turn may run at a time", async () => {
  const { host } = await lab({ config: { agents: { defaults: { maxConcurrent: 1 } } }, needsApproval: true });
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.say("hello", { from: "guest", group: true, mention: true });
  expect(texts(host, "group")).toEqual(["Hello!"]);
  await host.say(`/deny ${code}`);
  await turn;
});

test("a gateway killed during the wait asks only once, and the rerun turn finds the approval", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.restart({ killed: true });
  await host.say(`/approve ${code}`);
  await turn;
  expect(runs).toEqual(["the letters"]);
  expect(texts(host, "owner").filter((text) => text.includes("asks to use"))).toHaveLength(1);
});

test("a turn that rewords its call after each kill has only one request that can be approved", async () => {
  let times = 0;
  const { host, runs } = await lab({
    answer: (turn, signal) =>
      callBurn({ ...turn, inbound: { ...turn.inbound, text: `the letters, ${++times}` } }, signal),
  });
  const turn = host.say("burn them", { from: "guest", group: true, mention: true });
  // More kills than a requester may have open questions.
  for (let count = 1; count <= 4; count += 1) {
    await codeIn(host, "owner", count);
    await host.restart({ killed: true });
  }
  const last = await codeIn(host, "owner", 5);
  const first = /`\/approve ([A-Z2-9]{8})`/.exec(texts(host, "owner")[0] ?? "")?.[1];
  await host.say(`/approve ${first}`);
  expect(texts(host, "owner").at(-1)).toBe(
    "That request is over: the turn was interrupted, and asked again in other words.",
  );
  await host.say(`/approve ${last}`);
  expect((await turn).outcome).toBe("answered");
  expect(runs).toEqual(["the letters, 5"]);
});

test("an event whose question is open does not end with its attempts, wherever the processes were killed", async () => {
  let isHeld = false;
  const holding = definePlugin({
    id: "holding",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tap("gating", async () => {
        if (isHeld) await new Promise(() => {});
        return undefined;
      });
    },
  });
  const { host, runs } = await lab({}, [holding]);
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  isHeld = true;
  for (let times = 0; times < 5; times += 1) await host.restart({ killed: true });
  isHeld = false;
  await host.restart({ killed: true });
  await host.say(`/approve ${code}`);
  expect((await turn).outcome).toBe("answered");
  expect(runs).toEqual(["the letters"]);
});

test("a request superseded by a reworded one says so and loses its buttons, even if an owner allowed it", async () => {
  const { approvals, call, turn, said } = fakeApprovals({ edits: true });
  const interrupted = new AbortController();
  const asked = approvals.ask({ ...call, signal: interrupted.signal });
  const code = await until(() => /`\/approve ([A-Z2-9]{8})`/.exec(said[0] ?? "")?.[1] ?? expect.fail("not asked yet"));
  interrupted.abort(new Error("the process ends"));
  await expect(asked).rejects.toThrow("the process ends");
  await approvals.answer(code, "once", turn.inbound);
  const again = { ...call, key: "event:call in other words:1", hasAsked: (key: string) => key !== call.key };
  void approvals.ask({ ...again, signal: new AbortController().signal });
  await until(() => expect(said).toHaveLength(3));
  expect(
    said
      .slice(1)
      .toSorted()
      .map((text) => text.split("\n").at(-1)),
  ).toEqual([
    expect.stringMatching(/allowed it, but no call had begun. The turn was interrupted, and asks again in other words/),
    "Allow for owner until /new",
  ]);
});

test("a request that a killed process left open is closed by the next process, so no dead button remains", async () => {
  const { approvals, call, values, said, finished } = fakeApprovals({ edits: true });
  const closing = new AbortController();
  const asked = approvals.ask({ ...call, signal: closing.signal });
  await until(() => expect(said).toHaveLength(1));
  closing.abort(new Error("the process ends"));
  await expect(asked).rejects.toThrow("the process ends");
  await approvals.mend();
  expect(said).toHaveLength(1);
  // The next process brought the turn to its end, and was killed before it closed the question.
  finished.add("event");
  await approvals.mend();
  expect(said[1]).toContain("The turn has ended, so the question is void.");
  // The same after the request was closed, and before the owner's message showed it.
  const [key = "", request = {}] = [...values].find(([name]) => name.startsWith("request:")) ?? [];
  values.set(key, { ...(request as object), shown: false });
  await approvals.mend();
  expect(said[2]).toBe(said[1]);
  await approvals.mend();
  expect(said).toHaveLength(3);
});

test("pressing a button allows nothing if the turn has ended meanwhile", async () => {
  const { approvals, call, turn, said, finished } = fakeApprovals({ edits: true });
  const closing = new AbortController();
  const asked = approvals.ask({ ...call, signal: closing.signal });
  const code = await until(() => /`\/approve ([A-Z2-9]{8})`/.exec(said[0] ?? "")?.[1] ?? expect.fail("not asked yet"));
  closing.abort(new Error("the process ends"));
  await expect(asked).rejects.toThrow();
  finished.add("event");
  expect(await approvals.answer(code, "once", turn.inbound)).toBe("That request is over: the turn has ended.");
  expect(said[1]).toContain("The turn has ended, so the question is void.");
});

test("/stop ends the turn and its approval request", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.say("/stop");
  expect((await turn).reason).toBe("stopped");
  await host.say(`/approve ${code}`);
  expect(texts(host, "owner").at(-1)).toBe("That request is over: the turn was stopped.");
  expect(runs).toEqual([]);
});

test("a turn that is stopped while waiting for approval frees its slot", async () => {
  const { host } = await lab({ config: { agents: { defaults: { maxConcurrent: 1 } } } });
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.say("/stop");
  await turn;
  await host.say(`/approve ${code}`);
  expect((await host.say("hello")).outcome).toBe("answered");
});

test("the configuration can require approval for tools that do not request it", async () => {
  const { host, runs } = await lab({
    needsApproval: false,
    config: { agents: { defaults: { tools: { approve: ["b*n"] } } } },
  });
  const turn = host.say("the letters");
  await codeIn(host, "owner");
  await host.press("Allow once");
  await turn;
  expect(runs).toEqual(["the letters"]);
});

test("a webhook's turn is denied at once unless the configuration names a chat for approval requests", async () => {
  const settings = (approveAt?: string) => ({
    config: { agents: { defaults: { tools: approveAt === undefined ? {} : { approveAt } } } },
  });
  const request = { message: "the letters", deliver: false };
  const denied = await lab(settings());
  const [end] = (await denied.host.deliver("agent", request)).ended;
  expect(await denied.host.why(end?.eventId ?? "")).toContainEqual(
    expect.objectContaining({ code: "approval_unasked" }),
  );
  const asked = await lab(settings("loopback:owner"));
  const delivering = asked.host.deliver("agent", request);
  await codeIn(asked.host, "owner");
  await asked.host.press("Allow once");
  await delivering;
  expect(asked.runs).toHaveLength(1);
});

test("a turn asks at most ten times, so that a looping model cannot flood the owner's chat", async () => {
  const { host, runs } = await lab();
  const turn = host.say(Array.from({ length: 12 }, (_, index) => `letter ${index}`).join("\n"));
  for (let count = 1; count <= 10; count += 1) await host.say(`/deny ${await codeIn(host, "owner", count)}`);
  await turn;
  expect(texts(host, "owner").filter((text) => text.includes("asks to use"))).toHaveLength(10);
  expect(texts(host, "owner").at(-1)).toContain("the turn has already asked an owner 10 times");
  expect(runs).toEqual([]);
});
