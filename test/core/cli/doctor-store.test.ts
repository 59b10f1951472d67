import { expect, test } from "vitest";
import { checkStore } from "../../../core/cli/doctor/store.ts";

const check = (openedMs: number, found: readonly object[] = []) =>
  checkStore({
    context: { checkStore: async () => found },
    place: { store: "postgres" },
    state: { openedMs },
  } as never);

test("a store that is slow to open is a warning with the time, beside what the store finds itself", async () => {
  expect(await check(2_900)).toEqual([{ check: "store", verdict: "ok", reason: "the store postgres can be opened" }]);
  const slow = {
    ...{ check: "store", verdict: "warn", path: "state.url", fix: expect.stringMatching(/^Look at the load/) },
    reason: "the store postgres is slow: it took 4.2 s to open it",
  };
  expect(await check(4_210)).toEqual([slow]);
  const own = { verdict: "ok", reason: "PostgreSQL 15 has what the store needs", fix: undefined };
  expect(await check(4_210, [own])).toEqual([slow, { check: "store", path: "state.url", ...own }]);
});
