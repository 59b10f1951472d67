/** A test host that is still open plays with the timers of the next file of its process. */
import timers from "node:timers";
import { afterAll } from "vitest";

// The hook that is registered first runs last.
afterAll(() => {
  if (globalThis.setTimeout !== timers.setTimeout)
    throw new Error("A test host of this file is still open: close it in the file's afterAll.");
});
