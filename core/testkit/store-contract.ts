/** The rules for every store, as tests. */
import { describe } from "vitest";
import { checkRules } from "./store/check.ts";
import { copyingRules } from "./store/copying.ts";
import { createFixtures, createNodes, type StoreContractOptions } from "./store/fixture.ts";
import { handBackRules, ownershipRules } from "./store/hand-back.ts";
import { inboxRules } from "./store/inbox.ts";
import { keyValueRules } from "./store/key-value.ts";
import { modelCallRules } from "./store/model-calls.ts";
import { moveRules } from "./store/moves.ts";
import { outboxRules } from "./store/outbox.ts";
import { queueRules } from "./store/queues.ts";
import { removalRules } from "./store/removals.ts";
import { sessionRules } from "./store/sessions.ts";
import { summaryRules } from "./store/summaries.ts";
import { unitRules } from "./store/units.ts";
import { upkeepRules } from "./store/upkeep.ts";
import { writerChangeRules } from "./store/writer-changes.ts";
import { writerRules } from "./store/writers.ts";

export type { StoreContractOptions } from "./store/fixture.ts";

/**
 * Defines the tests that a store has to pass, as vitest groups under `name`: durability, order, how units end, who owns
 * the state. They test a store against the port `core/state/store.ts`; the embedded SQLite store passes them in
 * `test/core/state`. Each test opens a store of its own and closes everything it opened; only the tests move the clock
 * `now`. The call itself never throws: a violation is a failing test.
 *
 * A store on which several nodes work also names `writers`. Further tests then check leases, take-over and simultaneous
 * writes. A store with a `check` names that too.
 *
 * @example
 * storeContract({
 *   name: "my store",
 *   open: ({ now }) => openMyStore({ database: newDatabase(), now }),
 *   reopen: (store, { now }) => openMyStore({ database: databaseOf(store), now }),
 * });
 */
export function storeContract(options: StoreContractOptions): void {
  const { writers, check } = options;
  const withStore = createFixtures(options);
  describe(options.name, () => {
    describe("inbox", () => inboxRules(withStore));
    describe("units", () => unitRules(withStore));
    describe("queues", () => queueRules(withStore));
    describe("handing back", () => handBackRules(withStore));
    describe("ownership", () => ownershipRules(withStore));
    describe("outbox", () => outboxRules(withStore));
    describe("sessions", () => sessionRules(withStore));
    describe("summaries", () => summaryRules(withStore));
    describe("removals", () => removalRules(withStore));
    describe("writers of messages", () => writerChangeRules(withStore));
    describe("key-value", () => keyValueRules(withStore));
    describe("model calls", () => modelCallRules(withStore));
    describe("chats that move", () => moveRules(withStore));
    describe("upkeep", () => upkeepRules(withStore));
    describe("copies", () => copyingRules(options));
    if (check !== undefined) describe("its own check", () => checkRules(withStore, check));
    if (writers !== undefined) describe("several writers", () => writerRules(createNodes(options, writers)));
  });
}
