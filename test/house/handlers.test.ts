/**
 * Everything that another process, thread, server or client sends is heard through one guarded helper, and its handling
 * is tested.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handlersIn } from "./found-handlers.ts";
import { handlerTests } from "./handler-tests.ts";
import { read, root, sources } from "./sources.ts";

/** Code for the engine of transforms has no events of the host. */
const files = sources("{core,plugins}/**/*.ts").filter(
  (path) => !/^core\/(?:listeners|transforms\/guest)\//.test(path),
);
const found = files.map((path) => ({ path, ...handlersIn(path, read(path)) }));

test("every handler uses the guarded helper", () => {
  expect(found.flatMap(({ path, bare }) => bare.map((line) => `${path}:${line}`))).toEqual([]);
});

test.each([
  'child.on("message", (message) => settle(message));',
  'socket.once("error", reject);',
  'input.setEncoding("utf8").on("data", read);',
  'client.addListener("notification", hear);',
  'port.addEventListener("message", hear);',
  "port.onmessage = hear;",
  "const server = createServer(options, (request, response) => take(request, response));",
])("an unguarded handler is detected: %s", (code) => {
  expect(handlersIn("form.ts", `const a = 1;\n${code}\n`).bare).toEqual([expect.stringMatching(/^2: /)]);
});

test("handlers of events from this process itself are exempt", () => {
  const code =
    'signal.addEventListener("abort", end); process.on("SIGTERM", stop); const server = createServer(); map.on("x");';
  expect(handlersIn("form.ts", code).bare).toEqual([]);
});

test("the table lists every handler with the test that covers it", () => {
  const list = Object.fromEntries(
    found.filter(({ guarded }) => guarded.length > 0).map(({ path, guarded }) => [path, guarded.join(" ")]),
  );
  const table = Object.fromEntries(Object.entries(handlerTests).map(([path, { events }]) => [path, events]));
  expect(table).toEqual(list);
  const missing = Object.values(handlerTests).filter(({ by }) => !existsSync(join(root, "test", by)));
  expect(missing).toEqual([]);
});

/** Events that carry what the source chose. The others say that something happened, or what this process found out. */
const carrying: ReadonlySet<string> = new Set([
  "data",
  "message",
  "note",
  "notification",
  "request",
  "exists",
  "response",
]);

test("a test of an event with external content feeds it junk of every type and a burst", () => {
  const rows = Object.entries(handlerTests).filter(([, { events }]) =>
    events.split(" ").some((event) => carrying.has(event)),
  );
  expect(rows.length).toBeGreaterThan(15);
  /** By itself, or by the program that it starts. */
  const feeds = (by: string) => {
    const text = read(`test/${by}`);
    const programs = {
      "mail/imap-faults": "support/mail/imap-session.ts",
      "mcp/program": "plugins/mcp/fake-server.ts",
    };
    const [, program] = Object.entries(programs).find(([name]) => by.includes(name)) ?? [];
    return /support\/junk(?:-requests|-texts)?\.ts"/.test(
      text + (program === undefined ? "" : read(`test/${program}`).replaceAll("../junk", "support/junk")),
    );
  };
  expect(rows.filter(([, { by }]) => !feeds(by)).map(([path, { by }]) => `${path}: ${by}`)).toEqual([]);
});
