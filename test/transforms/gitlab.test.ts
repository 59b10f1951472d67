import { describe, test } from "vitest";
import gitlab from "../../transforms/gitlab.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("gitlab");

describe("gitlab", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(gitlab, "gitlab", samples));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      gitlab,
      samples.map(({ context }) => context),
    );
  });
});
