import { describe, test } from "vitest";
import gitlab from "../../transforms/gitlab.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("gitlab");

describe("gitlab", () => {
  test("every delivery of a documented shape is told as the page shows", () => matchesPage(gitlab, "gitlab", samples));

  test("fields that are missing or of another type never throw, and a message stays bounded", () => {
    survivesMutations(
      gitlab,
      samples.map(({ context }) => context),
    );
  });
});
