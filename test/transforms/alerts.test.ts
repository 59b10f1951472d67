import { describe, test } from "vitest";
import alerts from "../../transforms/alerts.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("alerts");

describe("alerts", () => {
  test("every delivery of a documented shape is told as the page shows", () => matchesPage(alerts, "alerts", samples));

  test("fields that are missing or of another type never throw, and a message stays bounded", () => {
    survivesMutations(
      alerts,
      samples.map(({ context }) => context),
    );
  });
});
