import { defineTransform } from "service-gateway/sdk";
import { transformTester } from "service-gateway/testkit";
import { expect } from "vitest";

const build = defineTransform<{ readonly build?: { readonly state: string } }>(
  async ({ payload, headers, query, path, source, now }) => {
    if (payload.build === undefined) throw new Error("a payload without build");
    if (payload.build.state === "passed") return null;
    if (payload.build.state === "unknown") return undefined;
    return {
      message: [payload.build.state, headers["x-event"], query.from, path, source, now].join(" "),
      name: String(headers.constructor),
    };
  },
);

transformTester.run("a transform in its tester", build, [
  { name: "may say that there is nothing to do", payload: { build: { state: "passed" } }, expect: null },
  { name: "may override nothing", payload: { build: { state: "unknown" } }, expect: undefined },
  {
    name: "sees headers in lower case, and no prototype behind them",
    payload: { source: "ci", build: { state: "failed" } },
    headers: { "X-Event": "build" },
    query: { from: "here" },
    path: "builds",
    expect: { message: "failed build here builds ci 2026-01-02T03:04:05.678Z", name: "undefined" },
  },
  {
    name: "may be matched in parts",
    payload: { build: { state: "failed" } },
    expect: expect.objectContaining({ name: "undefined" }),
  },
  { name: "is held to what it throws", payload: {}, expect: { throws: "without build" } },
]);

transformTester.run("a result that the gateway would refuse", () => ({ message: new Date(0) as unknown as string }), [
  { name: "fails in its test as well", payload: {}, expect: { throws: "must be a plain object" } },
]);

transformTester.run("a context", ({ payload }) => Object.assign(payload as { message: string }, { changed: true }), [
  { name: "is frozen", payload: { changed: false }, expect: { throws: "read only" } },
]);
