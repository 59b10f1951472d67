import { describe, test } from "vitest";
import alerts from "../../transforms/alerts.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("alerts");

describe("alerts", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(alerts, "alerts", samples));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      alerts,
      samples.map(({ context }) => context),
    );
  });
});
