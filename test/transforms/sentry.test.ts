import { describe, test } from "vitest";
import sentry from "../../transforms/sentry.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("sentry");

describe("sentry", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(sentry, "sentry", samples));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      sentry,
      samples.map(({ context }) => context),
    );
  });
});
