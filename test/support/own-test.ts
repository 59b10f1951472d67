/**
 * `expect` and `onTestFinished` of the test that calls them, also when other tests run beside it and when a helper
 * calls them. Those of vitest know one current test for the whole process. A file with concurrent tests calls
 * `aroundEach(inOwnTest)`; in all other files these are the same as those of vitest.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type TestContext, expect as vitestExpect, onTestFinished as vitestFinished } from "vitest";

const own = new AsyncLocalStorage<Pick<TestContext, "expect" | "onTestFinished">>();

/** Runs a test so that `expect` and `onTestFinished` are its own, in all that it calls. */
export async function inOwnTest(runTest: () => Promise<void>, { expect, onTestFinished }: TestContext): Promise<void> {
  await own.run({ expect, onTestFinished }, runTest);
}

const ownExpect = () => own.getStore()?.expect ?? vitestExpect;

export const expect = new Proxy(vitestExpect, {
  apply: (_expect, _this, args: Parameters<typeof vitestExpect>) => ownExpect()(...args),
  get: (_expect, name) => Reflect.get(ownExpect(), name),
});

export const onTestFinished: typeof vitestFinished = (...args) =>
  (own.getStore()?.onTestFinished ?? vitestFinished)(...args);
