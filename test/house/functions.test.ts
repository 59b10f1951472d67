import ts from "typescript";
import { expect, test } from "vitest";
import { parsed } from "./parsed.ts";
import { read, sources } from "./sources.ts";

const mostLines = 99;

const wiring = "only wires: each part that it joins has its own file";
/** Of a longer function that does more than wire. */
const mostExcepted = 150;
/** Longer functions, each with the reason why it is read in one piece. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  [wiring]: [
    "core/agents/tools/approvals.ts: createApprovals",
    "core/agents/tools/called-tool.ts: calledTool",
    "core/channels/accounts.ts: createAccounts",
    "core/channels/open-account.ts: openAccount",
    "core/gateway/gateway.ts: compose",
    "core/gateway/runtime.ts: createRuntime",
    "core/isolation/thread/accounts.ts: createThreadAccounts",
    "core/isolation/worker.ts: serve",
    "core/testkit/channel/bench.ts: createBench",
    "core/testkit/host/test-host.ts: createHost",
    "plugins/botchat/connection.ts: createConnection",
    "plugins/mail/gmail/source.ts: createGmailSource",
    "plugins/schedule/setup.ts: setUpSchedules",
  ],
  "one list of the members of an interface, each a few lines": [
    "core/host/scope.ts: createScope",
    "core/isolation/proxy/connection.ts: createProxyConnections",
    "core/sdk/lines/session.ts: createLink",
    "core/state/sqlite/events/acceptance.ts: acceptanceWrites",
    "core/testkit/host/loopback.ts: createTestChannel",
    "plugins/device-pair/devices.ts: createDevices",
    "plugins/mail/gmail/api.ts: createApi",
    "plugins/store-postgres/pool.ts: openDatabase",
  ],
  "one call from begin to end, in the order of its steps": ["plugins/botchat/intake/polling.ts: poll"],
  "short functions around one state that only they change": [
    "core/access/gate.ts: createGate",
    "core/access/pairing.ts: createPairing",
    "core/actions/run.ts: createActionRunner",
    "core/agents/route.ts: createRouter",
    "core/agents/spending/meter.ts: createMeter",
    "core/agents/spending/spending.ts: createSpending",
    "core/agents/tools/approval-closing.ts: createClosing",
    "core/agents/tools/offered-tools.ts: createOfferedTools",
    "core/agents/tools/turn-calls.ts: createTurnCalls",
    "core/channels/account-life.ts: createAccountLife",
    "core/gateway/reload.ts: followConfig",
    "core/host/plugins.ts: createPlugins",
    "core/isolation/proxy/engine.ts: createProxyEngines",
    "core/isolation/supervisor.ts: supervise",
    "core/path/lanes/lanes.ts: createLanes",
    "core/path/presence/acknowledging.ts: createAcknowledgements",
    "core/sdk/preview/preview.ts: editingPreview",
    "core/state/sqlite/thread/queue.ts: createQueue",
    "core/transforms/engine/engine.ts: createEngine",
    "core/transforms/engine/linker.ts: createLinker",
    "core/transforms/pool.ts: createPool",
    "core/transforms/trusted.ts: createTrusted",
    "core/transforms/worker.ts: serve",
    "core/webhooks/endpoint/receive-delivery.ts: createMapped",
    "plugins/botchat/intake/gather.ts: createGatherer",
    "plugins/botchat/send/chat-calls.ts: createChatCalls",
    "plugins/botchat/send/send.ts: createSender",
    "plugins/mail/gmail/notices.ts: createNotices",
    "plugins/mail/look.ts: createLooks",
    "plugins/mcp/serving.ts: createServing",
    "plugins/schedule/agenda.ts: createAgenda",
    "plugins/schedule/ending.ts: createEndings",
    "plugins/store-postgres/nodes/lease.ts: createLease",
    "plugins/store-postgres/nodes/nodes.ts: createNodes",
  ],
};
const isExcepted = (at: string) => Object.values(exceptions).some((all) => all.includes(at));

interface LongFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}

const nameOf = (node: ts.Node): string | undefined =>
  "name" in node && ts.isIdentifier(node.name as ts.Node) ? (node.name as ts.Identifier).text : undefined;

/** Functions over the limit, those inside of them included in the count. A shorter file need not be parsed. */
function longFunctions(path: string, text: string): readonly LongFunction[] {
  if (text.split("\n").length <= mostLines) return [];
  const file = parsed(path, text);
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const found: LongFunction[] = [];
  const visit = (node: ts.Node, outer?: ts.Node): void => {
    const line = lineAt(node.getStart(file));
    const lines = lineAt(node.getEnd()) - line + 1;
    // What is short contains nothing long.
    if (lines <= mostLines) return;
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined)
      found.push({ name: nameOf(node) ?? (outer && nameOf(outer)) ?? "", line, lines });
    ts.forEachChild(node, (child) => visit(child, node));
  };
  visit(file);
  return found;
}

/** The rules of a contract are one list of tests, read from top to bottom. */
const isContract = (path: string) => path.startsWith("core/testkit/store/");

test(`a function has at most ${mostLines} lines, or a documented reason`, () => {
  const long = sources("{core,plugins}/**/*.ts")
    .filter((path) => !isContract(path))
    .flatMap((path) => longFunctions(path, read(path)).map((one) => ({ at: `${path}: ${one.name}`, ...one })));
  const unlisted = long.filter(({ at }) => !isExcepted(at));
  expect(unlisted.map(({ at, line, lines }) => `${at}, line ${line}: ${lines} lines`)).toEqual([]);
  const tooLong = long.filter(({ at, lines }) => lines > mostExcepted && exceptions[wiring]?.includes(at) !== true);
  expect(tooLong).toEqual([]);
  const listed = Object.values(exceptions).flat();
  expect(listed.filter((at) => !long.some((one) => one.at === at))).toEqual([]);
});

test("a function over the limit is found in any form", () => {
  const body = "\n".repeat(mostLines - 1);
  const forms = [
    ["one", "function one() {#}"],
    ["two", "const two = async () => {#};"],
    ["four", "const three = { four() {#} };"],
    ["six", "class Five { get six() {#} }"],
  ] as const;
  for (const [name, form] of forms) {
    expect(longFunctions("form.ts", form.replace("#", body))).toEqual([]);
    expect(longFunctions("form.ts", form.replace("#", `${body}\n`))).toEqual([{ name, line: 1, lines: mostLines + 1 }]);
  }
});
