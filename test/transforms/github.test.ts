import { join } from "node:path";
import definitions from "@octokit/webhooks-examples" with { type: "json" };
import { describe, expect, test } from "vitest";
import github from "../../transforms/github.ts";
import { root } from "../house/sources.ts";
import { delivery, matchesPage, samplesOf, survivesMutations, transformed } from "./deliveries.ts";

interface Recorded {
  readonly name: string;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
}

const recorded = (definitions as unknown as readonly Recorded[]).flatMap(({ name, examples }) =>
  examples.map((payload) => ({ name, payload })),
);
const from = (name: string, payload: unknown) => delivery(payload, { "x-github-event": name });

describe("github", () => {
  test("every recorded delivery produces a message, or nothing with a reason", async () => {
    expect(recorded).toHaveLength(329);
    const numbers = new Map<string, number>();
    const pages = recorded.map(({ name, payload }) => {
      const title = [name, payload.action].filter((part) => part !== undefined).join(" ");
      const number = (numbers.get(title) ?? 0) + 1;
      numbers.set(title, number);
      const { fields, reason } = transformed(github, from(name, payload));
      expect(fields, title).not.toBeUndefined();
      expect(fields === null ? reason : fields?.message, title).toMatch(/\S/);
      return (
        `## ${title} ` +
        `${number}\n\n${fields ? `${fields.message}\n\n\`${fields.sessionKey}\`` : `(nothing: ${reason})`}\n`
      );
    });
    await expect(pages.join("\n")).toMatchFileSnapshot(join(root, "test/fixtures/transforms/github.md"));
  });

  test("cases without a recording produce the expected message: failed builds, merges, bots, force pushes, forms", () =>
    matchesPage(github, "github-cases", samplesOf("github-cases")));

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(github, [
      ...recorded.map(({ name, payload }) => from(name, payload)),
      ...samplesOf("github-cases").map(({ context }) => context),
    ]);
  });
});
