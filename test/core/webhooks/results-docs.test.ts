import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { readFixture } from "../../../core/webhooks/mapping/fixture.ts";
import { read } from "../../house/sources.ts";

const page = read("examples/reference/webhook-deliveries.md");
const section = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";

test("the examples of run results run as printed and get the printed answers", async () => {
  const token = "hook-token-of-the-page";
  await using host = await createTestHost({ config: { hooks: { token } }, answer: () => "It was the disk." });
  const scripts = [...section("Results of runs").matchAll(/```sh\n(.*?)```/gs)]
    .map((match) => match[1] ?? "")
    .toReversed();
  expect(scripts).toHaveLength(2);
  let runId = "";
  for (const script of scripts) {
    const command = script
      .replaceAll("http://127.0.0.1:18789", host.url)
      .replace("curl ", 'curl -s -w "\\n%{http_code}" ');
    const env = { PATH: process.env.PATH, HOOK_TOKEN: token, RUN_ID: runId };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
    const [body = "", status] = stdout.split("\n");
    const [, promised, keys = ""] = /^# (\d+) (.*)$/m.exec(script) ?? [];
    expect(status).toBe(promised);
    const answer = JSON.parse(body);
    expect(Object.keys(answer)).toEqual(
      expect.arrayContaining([...keys.matchAll(/"(\w+)":/g)].map((match) => match[1])),
    );
    expect(answer).toMatchObject({ ok: true, state: "settled" });
    runId = answer.runId;
  }
});

test("the recording on the page is valid", () => {
  const [, text = ""] = /```json\n(.*?)```/s.exec(section("Looking at deliveries")) ?? [];
  expect(readFixture(text, { file: "page", path: "other", now: "" })).toMatchObject({
    path: "github",
    headers: { "x-github-event": "push" },
  });
});

test("every described command exists, with its options", () => {
  const declared = read("core/cli/hooks/commands.ts");
  const rows = [...section("Looking at deliveries").matchAll(/^\| `service hooks (\w+)(.*?)` /gm)];
  expect(rows.map(([, name]) => name)).toEqual([...declared.matchAll(/add\(hooks, "(\w+)/g)].map(([, name]) => name));
  for (const [, , usage = ""] of rows)
    for (const [option] of usage.matchAll(/--\w+/g)) expect(declared).toContain(`"${option}`.slice(1));
});
