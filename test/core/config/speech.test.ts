/** The section `models.speech`, and prices by the minute. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../core/config/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const providers = { ears: { api: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } };

async function load(speech: object, prices: object = {}) {
  const file = join(temporaryDirectory(), "config.jsonc");
  writeFileSync(file, JSON.stringify({ models: { providers, speech, prices } }));
  const { config, problems } = await loadConfig({ file, named: true, env: {} });
  return {
    models: config.models,
    problems: problems.map(({ severity, path, message }) => `${severity} ${path} ${message}`),
  };
}

test("one entry or a list, with a model or a program each", async () => {
  const one = { model: "ears/small", language: "de" };
  const program = { command: ["listen", "{file}"], timeoutSeconds: 300, memoryMb: 100 };
  const out = { command: ["speak", "{text}", "{output}"], when: "inbound" };
  expect(await load({ in: one })).toMatchObject({ models: { speech: { in: one } }, problems: [] });
  expect(await load({ in: [one, program], out })).toMatchObject({
    models: { speech: { in: [one, program], out } },
    problems: [],
  });
});

test.each([
  [{ in: {} }, "error models.speech.in names neither a model nor a command"],
  [{ in: [{ model: "ears/a", command: ["a", "{file}"] }] }, "error models.speech.in[0] names a model and a command"],
  [{ in: { command: ["listen"] } }, "error models.speech.in.command does not contain {file}"],
  [{ out: { command: ["speak", "{text}"] } }, "error models.speech.out.command does not contain {output}"],
  [{ out: { command: ["speak"] } }, "error models.speech.out.command does not contain {text} and {output}"],
])("a wrong entry is reported and left out: %j", async (speech, problem) => {
  const { models, problems } = await load(speech);
  expect(problems).toEqual([problem]);
  expect([models.speech?.in ?? [], models.speech?.out ?? []].flat()).toEqual([]);
});

test("the right entries of a list remain, and a wrong one is named by its place in the file", async () => {
  const right = { model: "ears/small" };
  const { models, problems } = await load({ in: [{ command: ["listen"] }, right] });
  expect(models.speech?.in).toEqual([right]);
  expect(problems).toEqual(["error models.speech.in[0].command does not contain {file}"]);
});

test("a model of a provider that is not configured is a warning", async () => {
  const { problems } = await load({ in: { model: "eers/small" } });
  expect(problems).toEqual(['warning models.speech.in.model is "eers/small", and models.providers has no "eers"']);
});

test("a price is of a minute, or of requests and replies", async () => {
  expect(
    await load({}, { "ears/small": { minute: 0.006 }, "ears/*": { input: 1, output: 2, minute: 0 } }),
  ).toMatchObject({
    problems: [],
  });
  const { models, problems } = await load({}, { "ears/small": { input: 1 }, "ears/other": { output: 1, minute: 1 } });
  expect(problems).toEqual([
    "error models.prices.ears/small does not set output",
    "error models.prices.ears/other does not set input",
  ]);
  expect(models.prices).toEqual({});
});
