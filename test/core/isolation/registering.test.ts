import { expect, test } from "vitest";
import { createOwn, createThreadHost } from "../../../core/isolation/thread/host.ts";
import { createThreadSettings } from "../../../core/isolation/thread/settings.ts";
import { Type } from "../../../core/sdk/index.ts";

/** A host as a plugin in JavaScript calls it. */
type Untyped = Readonly<
  Record<
    "tap" | "channel" | "engine" | "tool" | "toolSource" | "command" | "route" | "check" | "status" | "panel",
    (...args: unknown[]) => unknown
  >
>;

const settings = createThreadSettings(() => {});
const bare = { id: "guest", declared: {}, settings, newId: () => "", address: () => "" };

// Functions do not reach the main thread, which therefore cannot miss them.
test.each<[string, (host: Untyped) => unknown, string]>([
  ["a tap without its function", (host) => host.tap("settled"), "tap of settled was called without a function"],
  [
    "a channel",
    (host) => host.channel({ id: "a", options: Type.Object({}), capabilities: { maxChars: 9 } }),
    "its channel has no open function",
  ],
  ["nothing as a channel", (host) => host.channel(), "the id of its channel must be a to z"],
  ["an engine without its function", (host) => host.engine({ id: "a" }), "the engine a has no run function"],
  [
    "a tool without its function",
    (host) => host.tool({ name: "a", description: "A.", parameters: Type.Object({}) }),
    "the tool a has no run function",
  ],
  [
    "a source of tools without its function",
    (host) => host.toolSource({ id: "a" }),
    "the source of tools a has no offer function",
  ],
  [
    "a command without its function",
    (host) => host.command({ name: "a", summary: "A.", role: "owner" }),
    "the command a has no run function",
  ],
  [
    "a route without its function",
    (host) => host.route({ method: "GET", path: "a", access: "public" }),
    "the route a has no handler function",
  ],
  ["a check without its function", (host) => host.check({ name: "a" }), "the check a has no explain function"],
  [
    "a panel without its function",
    (host) => host.panel({ id: "a", title: "A", empty: "None." }),
    "the panel a has no entries function",
  ],
  ["a report without its function", (host) => host.status([]), "status was called without a function"],
])("a plugin in a worker that registers %s fails with the reason", (_, register, reason) => {
  const [own, signal] = [createOwn(), new AbortController().signal];
  const { host } = createThreadHost({ ...bare, own, peer: {} as never, signal });
  expect(() => register(host as unknown as Untyped)).toThrow(reason);
  expect(Object.values(own).flat()).toEqual([]);
});

test("a plugin in a worker that stores a promise fails with the reason", async () => {
  const peer = { ask: async () => null } as never;
  const { host } = createThreadHost({
    ...bare,
    own: createOwn(),
    peer,
    signal: new AbortController().signal,
  });
  await expect(host.store.set("count", Promise.resolve(2) as never)).rejects.toThrow(
    "store.set received a promise as value of count",
  );
  await expect(host.store.update("count", (async () => 2) as never)).rejects.toThrow(
    "store.update received a promise as value of count",
  );
});
