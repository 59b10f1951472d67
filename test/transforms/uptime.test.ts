import { describe, test } from "vitest";
import uptime from "../../transforms/uptime.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("uptime");

describe("uptime", () => {
  test("every delivery of a documented shape is told as the page shows", () => matchesPage(uptime, "uptime", samples));

  test("fields that are missing or of another type never throw, and a message stays bounded", () => {
    survivesMutations(
      uptime,
      samples.map(({ context }) => context),
    );
  });
});
