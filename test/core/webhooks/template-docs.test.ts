import { expect, test } from "vitest";
import { compileMatch } from "../../../core/webhooks/mapping/match.ts";
import { compileTemplate } from "../../../core/webhooks/mapping/template.ts";
import { read } from "../../house/sources.ts";
import { deliveryOf } from "./hostile.ts";

const page = read("examples/reference/webhook-mappings.md");
const section = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? "";
const example = (heading: string) => JSON.parse(/```json\n(.*?)```/s.exec(section(heading))?.[1] ?? "");

const delivery = deliveryOf({
  path: "github",
  headers: { "x-github-event": "pull_request" },
  query: "team=core",
  payload: example("Templates"),
});

test("each template on the page renders what the page shows", () => {
  const rows = [...section("Templates").matchAll(/^\| `(.+?)` \| `(.+?)` \| /gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, template = "", gives] of rows) expect(compileTemplate(template).render(delivery)).toBe(gives);
});

test("the match on the page accepts its delivery and rejects another for the documented reason", () => {
  const match = compileMatch(example("Which requests a mapping takes"));
  expect(match.test(delivery)).toBe(true);
  const other = deliveryOf({ ...delivery, headers: { "x-github-event": "push" } });
  expect(section("Which requests a mapping takes")).toContain(`\`${match.test(other)}\``);
});
