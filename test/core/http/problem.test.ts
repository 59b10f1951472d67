import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { problems } from "../../../core/http/problem.ts";

test("the documentation and the table list the same codes with the same statuses", () => {
  const text = ["http", "webhook-endpoints"]
    .map((room) => readFileSync(new URL(`../../../examples/reference/${room}.md`, import.meta.url), "utf8"))
    .join("\n");
  const documented = [...text.matchAll(/^\| `([a-z_]+)` +\| (\d{3}) +\|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status])),
  );
  expect(documented).toHaveLength(Object.keys(problems).length);
});
