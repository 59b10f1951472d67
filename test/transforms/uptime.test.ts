import { describe, test } from "vitest";
import uptime from "../../transforms/uptime.ts";
import { matchesPage, samplesOf, survivesMutations } from "./deliveries.ts";

const samples = samplesOf("uptime");

describe("uptime", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(uptime, "uptime", samples));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      uptime,
      samples.map(({ context }) => context),
    );
  });
});
