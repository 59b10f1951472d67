/** The contract of engines, held against an engine without a fault, and against each of those with one. */
import { defineEngine } from "service-gateway/sdk";
import { engineContract } from "service-gateway/testkit";
import { describe, expect, test } from "vitest";
import { engineRules, tryEngineRule } from "../../../core/testkit/engine-contract.ts";
import { brokenEngines } from "./engines/broken.ts";
import { contractOf } from "./engines/harbour.ts";
import { sailor } from "./engines/sailor.ts";

engineContract(
  contractOf(defineEngine({ id: "sailor", version: "1.0.0", host: "^0.2.0", needsModel: true, run: sailor })),
);

describe("a faulty engine fails only its intended test, with a clear message", () => {
  test.each(brokenEngines)("$name", async ({ engine, caughtBy, says }) => {
    const options = contractOf(engine);
    const failed: string[] = [];
    for (const rule of engineRules(options)) {
      const failure = await tryEngineRule(rule, options, {
        patienceMs: rule.title === caughtBy ? 1_000 : 10_000,
      }).catch((error: Error) => error);
      if (failure === undefined) continue;
      failed.push(rule.title);
      if (rule.title === caughtBy) expect(failure.message).toMatch(says);
    }
    expect(failed).toEqual([caughtBy]);
  });
});
