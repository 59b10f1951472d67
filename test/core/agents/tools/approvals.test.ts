/** A tool that asks first: who is asked, who may answer, and what happens without an answer. */
import { definePlugin, type EngineTurn, type Json, Type } from "service-gateway/sdk";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { expect, onTestFinished, test, vi } from "vitest";

const until = <Result>(check: () => Result): Promise<Result> => vi.waitFor(check, { timeout: 30_000, interval: 10 });

interface Lab {
  readonly host: TestHost;
  /** The arguments of each run. */
  readonly runs: Json[];
}

/** The agent calls `burn` with what the message says, as often as it has lines, and answers with the results. */
async function callBurn({ inbound, tools }: EngineTurn, signal: AbortSignal): Promise<string> {
  if (inbound.text === "hello") return "Hello!";
  const burn = tools.find(({ name }) => name === "burn");
  const results: Json[] = [];
  const lines = inbound.authority === "hook" ? ["the letters"] : inbound.text.split("\n");
  for (const line of lines) results.push((await burn?.run({ what: line }, signal)) ?? "no tool");
  return JSON.stringify(results);
}

async function lab({
  needsApproval = true,
  ...options
}: TestHostOptions & { needsApproval?: boolean | (() => string) } = {}): Promise<Lab> {
  const runs: Json[] = [];
  const plugin = definePlugin({
    id: "lab",
    version: "1.0.0",
    host: "^0.1.0",
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
  const host = await createTestHost({ plugins: [plugin], answer: callBurn, ...options });
  onTestFinished(() => host.close());
  return { host, runs };
}

const texts = (host: TestHost, chat: string) => host.outbox().flatMap((message) => (message.chat === chat ? [message.text] : []));

/** Resolves with the code of the last request in the chat, once there are `count`. */
async function codeIn(host: TestHost, chat: string, count = 1): Promise<string> {
  const codes = () => texts(host, chat).flatMap((text) => /`\/approve ([A-Z2-9]{8})` or/.exec(text)?.[1] ?? []);
  await until(() => expect(codes()).toHaveLength(count));
  return codes().at(-1) as string;
}

test("an owner allows one call with a button, and the tool runs with what they have read", async () => {
  const { host, runs } = await lab({ needsApproval: () => "It cannot be undone." });
  const turn = host.say("the letters");
  await codeIn(host, "owner");
  expect(texts(host, "owner")[0]).toMatch(
    /agent main asks to use `burn`.*lab.*for owner \(owner\).*It cannot be undone\..*"what": "the letters"/s,
  );
  expect(runs).toEqual([]);
  await host.press("Allow once");
  const { eventId } = await turn;
  expect(runs).toEqual(["the letters"]);
  expect(texts(host, "owner").at(-1)).toBe('["the letters is ashes"]');
  expect(await host.why(eventId)).toContainEqual(
    expect.objectContaining({ station: "turn", code: "approval_allowed", detail: expect.stringContaining("allowed by owner (owner)") }),
  );
});

test("a denied call does not run, the model reads so, and the same call again is denied without a question", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters\nthe letters\nthe photos");
  await host.say(`/deny ${await codeIn(host, "owner")}`);
  await host.say(`/approve ${(await codeIn(host, "owner", 2)).toLowerCase()}`);
  await turn;
  expect(runs).toEqual(["the photos"]);
  expect(texts(host, "owner").at(-1)).toMatch(/"code":"denied".*"code":"denied".*the photos is ashes/);
});

test("until /new, the conversation is not asked again; then it is", async () => {
  const { host, runs } = await lab();
  const turn = host.say("one\ntwo");
  await codeIn(host, "owner");
  await host.press("Allow until /new");
  await turn;
  await host.say("three");
  expect(runs).toEqual(["one", "two", "three"]);
  await host.say("/new");
  const next = host.say("four");
  await host.say(`/deny ${await codeIn(host, "owner", 2)}`);
  await next;
  expect(runs).toEqual(["one", "two", "three"]);
});

test("a guest's call is asked of the owner in their own chat, and the guest is told that it waits", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the house", { from: "guest", group: true, mention: true });
  const code = await codeIn(host, "owner");
  await until(() => expect(texts(host, "group")).toEqual(["I have asked for permission to use `burn`, and wait for the answer."]));
  const { outcome, reason } = await host.say(`/approve ${code}`, { from: "guest" });
  expect({ outcome, reason }).toEqual({ outcome: "refused", reason: "owner_required" });
  expect(runs).toEqual([]);
  await host.press("Deny");
  await turn;
  expect(texts(host, "group").at(-1)).toContain("denied");
});

test("a button of an agent that imitates a request approves nothing, and an unknown code neither", async () => {
  const { host } = await lab();
  await host.say("/approve ABCDEFGH");
  expect(texts(host, "owner")).toEqual(["There is no request ABCDEFGH here."]);
});

test("without an answer within ten minutes the agent must do without; the turn's own time limit does not run meanwhile", async () => {
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

test("other turns run while one waits for an answer, also with one turn at once", async () => {
  const { host } = await lab({ config: { agents: { defaults: { maxConcurrent: 1 } } }, needsApproval: true });
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.say("hello", { from: "guest", group: true, mention: true });
  expect(texts(host, "group")).toEqual(["Hello!"]);
  await host.say(`/deny ${code}`);
  await turn;
});

test("a gateway that ends while it waits asks once: the turn that is run again finds the answer", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.restart({ killed: true });
  await host.say(`/approve ${code}`);
  await turn;
  expect(runs).toEqual(["the letters"]);
  expect(texts(host, "owner").filter((text) => text.includes("asks to use"))).toHaveLength(1);
});

test("/stop ends the turn and its request", async () => {
  const { host, runs } = await lab();
  const turn = host.say("the letters");
  const code = await codeIn(host, "owner");
  await host.say("/stop");
  expect((await turn).reason).toBe("stopped");
  await host.say(`/approve ${code}`);
  expect(texts(host, "owner").at(-1)).toBe("That request is over: the turn was stopped.");
  expect(runs).toEqual([]);
});

test("the configuration asks for tools that do not ask themselves", async () => {
  const { host, runs } = await lab({ needsApproval: false, config: { agents: { defaults: { tools: { approve: ["b*n"] } } } } });
  const turn = host.say("the letters");
  await codeIn(host, "owner");
  await host.press("Allow once");
  await turn;
  expect(runs).toEqual(["the letters"]);
});

test("a webhook's turn is denied at once, unless the configuration names where an owner is asked", async () => {
  const settings = (approveAt?: string) => ({ config: { agents: { defaults: { tools: approveAt === undefined ? {} : { approveAt } } } } });
  const request = { message: "the letters", deliver: false };
  const denied = await lab(settings());
  const [end] = (await denied.host.deliver("agent", request)).ended;
  expect(await denied.host.why(end?.eventId ?? "")).toContainEqual(expect.objectContaining({ code: "approval_unasked" }));
  const asked = await lab(settings("loopback:owner"));
  const delivering = asked.host.deliver("agent", request);
  await codeIn(asked.host, "owner");
  await asked.host.press("Allow once");
  await delivering;
  expect(asked.runs).toHaveLength(1);
});
