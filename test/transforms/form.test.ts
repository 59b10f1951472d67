import { describe, test } from "vitest";
import form from "../../transforms/form.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("form");

describe("form", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(form, "form", samples));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      form,
      samples.map(({ context }) => context),
    );
  });
});
