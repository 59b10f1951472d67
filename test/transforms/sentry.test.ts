import { describe, test } from "vitest";
import sentry from "../../transforms/sentry.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("sentry");

describe("sentry", () => {
  test("every delivery of a documented shape is told as the page shows", () => matchesPage(sentry, "sentry", samples));

  test("fields that are missing or of another type never throw, and a message stays bounded", () => {
    survivesMutations(
      sentry,
      samples.map(({ context }) => context),
    );
  });
});
