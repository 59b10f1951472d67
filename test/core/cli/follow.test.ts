/** `events list --follow` beside a gateway that goes on meanwhile. */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import type { CommandContext } from "../../../core/cli/context.ts";
import { listEvents } from "../../../core/cli/events/list.ts";
import { createTerminal } from "../../../core/cli/output/terminal.ts";
import { HostError } from "../../../core/contract/errors.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";

/** What a command prints on a terminal: its lines, each with one event, and its notes. */
function openTerminal() {
  const shown: string[] = [];
  const notes: string[] = [];
  const into = (list: string[]) => ({ write: (text: string) => list.push(text.trimEnd()) });
  const terminal = createTerminal({ stdout: into(shown), stderr: into(notes) } as unknown as NodeJS.Process);
  return { shown, notes, terminal };
}

const idOf = (event: string) => (JSON.parse(event) as { readonly id: string }).id;

test("an event that ends between the list and the follow phase is shown once, like every other event", async () => {
  const host = await createTestHost();
  onTestFinished(() => host.close());
  await host.say("one");
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: Date.now });
  onTestFinished(() => store.close());
  let isListed = false;
  /** The second event comes when the list has just been read. */
  const slow = new Proxy(store, {
    get: (_store, name) => {
      if (name !== "events") return Reflect.get(store, name);
      return async (filter: Parameters<Store["events"]>[0]) => {
        const found = await store.events(filter);
        if (!isListed && filter.limit === 20) {
          isListed = true;
          await host.say("two");
        }
        return found;
      };
    },
  });
  const { shown, terminal } = openTerminal();
  const context = { now: Date.now, openState: async () => slow, terminal };
  void listEvents(context as unknown as CommandContext, [], { follow: true, json: true, limit: 20 }).catch(() => {});
  await vi.waitFor(() => expect(shown).toHaveLength(2), 10_000);
  await host.say("three");
  await vi.waitFor(() => expect(shown).toHaveLength(3), 10_000);
  expect(new Set(shown.map(idOf)).size).toBe(3);
});

test("a brief database outage does not end following, and events of that time are shown", async () => {
  const host = await createTestHost();
  onTestFinished(() => host.close());
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: Date.now });
  onTestFinished(() => store.close());
  let failures = 0;
  const away = new Proxy(store, {
    get: (_store, name) => {
      if (name !== "event" && name !== "events") return Reflect.get(store, name);
      return async (asked: never) => {
        if (failures > 0) {
          failures -= 1;
          throw new HostError("database_away", { reason: "connect ECONNREFUSED" });
        }
        return await store[name](asked);
      };
    },
  });
  const { shown, notes, terminal } = openTerminal();
  const context = { now: Date.now, openState: async () => away, terminal };
  void listEvents(context as unknown as CommandContext, [], { follow: true, json: true, limit: 20 }).catch(() => {});
  await host.say("one");
  await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
  failures = 1;
  await host.say("two");
  await vi.waitFor(() => expect(shown).toHaveLength(2), 10_000);
  expect(notes).toEqual([
    expect.stringMatching(/^The database is not available: connect ECONNREFUSED\. The list goes on when it is back\.$/),
  ]);
});

test("following continues after an event that is removed, such as by erasing its sender's data", async () => {
  const host = await createTestHost();
  onTestFinished(() => host.close());
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: Date.now });
  onTestFinished(() => store.close());
  let removed = "";
  // A store in PostgreSQL removes the newest event too.
  const shared = new Proxy(store, {
    get: (_store, name) => {
      if (name === "event") return async (id: string) => (id === removed ? null : await store.event(id));
      if (name !== "events") return Reflect.get(store, name);
      return async (filter: Parameters<Store["events"]>[0]) =>
        filter.newerThan === removed ? [] : await store.events(filter);
    },
  });
  const { shown, terminal } = openTerminal();
  const context = { now: Date.now, openState: async () => shared, terminal };
  void listEvents(context as unknown as CommandContext, [], { follow: true, json: true, limit: 20 }).catch(() => {});
  await host.say("one");
  await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000);
  removed = shown.map(idOf)[0] ?? "";
  for (const text of ["two", "three"]) await host.say(text);
  await vi.waitFor(() => expect(shown).toHaveLength(3), 10_000);
  expect(new Set(shown.map(idOf)).size).toBe(3);
});
