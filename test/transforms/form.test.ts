import { describe, test } from "vitest";
import form from "../../transforms/form.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("form");

describe("form", () => {
  test("every delivery of a documented shape is told as the page shows", () => matchesPage(form, "form", samples));

  test("fields that are missing or of another type never throw, and a message stays bounded", () => {
    survivesMutations(
      form,
      samples.map(({ context }) => context),
    );
  });
});
