/** Which listener transcribes, and how often it is asked. */
import { expect, test } from "vitest";
import { createTranscribing } from "../../../../core/agents/speech/transcribing.ts";
import type { Listener } from "../../../../core/agents/turn/hearing-models.ts";
import { EngineError } from "../../../../core/contract/index.ts";

const sound = { path: "/tmp/a.ogg", mimeType: "audio/ogg", seconds: 2 };
const asker = { agentId: "main", purpose: "turn" };
const listeners: readonly Listener[] = [{ model: "a/one" }, { model: "b/two" }];

const away = () => new EngineError("model_unreachable", { detail: "cannot be reached", retryable: true });
const wrongKey = () => new EngineError("model_unauthorized", { detail: "rejects the key", hint: "Check the key." });

function room(answers: Readonly<Record<string, readonly (string | (() => Error))[]>>) {
  const asked: string[] = [];
  const reports: string[] = [];
  let waits = 0;
  const { transcribe } = createTranscribing({
    pausesMs: [1, 1, 1],
    engines: {
      async transcribe(_sound, { model }) {
        const turn = asked.filter((one) => one === model).length;
        asked.push(model);
        const answer = answers[model]?.[turn] ?? answers[model]?.at(-1) ?? "";
        if (typeof answer === "string") return answer;
        throw answer();
      },
      speak: async () => new Uint8Array(),
    },
    onWorks: (name) => reports.push(`works ${name}`),
    onAway: (name, detail) => reports.push(`away ${name}: ${detail}`),
  });
  const signal = new AbortController().signal;
  const waitFor = <T>(waited: Promise<T>) => {
    waits += 1;
    return waited;
  };
  return { asked, reports, waits: () => waits, ask: () => transcribe(sound, listeners, { asker, signal, waitFor }) };
}

test("the first that works is asked alone", async () => {
  const { ask, asked, reports } = room({ "a/one": ["hello"] });
  expect(await ask()).toEqual({ text: "hello", by: "a/one" });
  expect(asked).toEqual(["a/one"]);
  expect(reports).toEqual(["works a/one"]);
});

test("one that is away is asked again in the next round, one that refuses is not", async () => {
  const { ask, asked, waits } = room({ "a/one": [wrongKey], "b/two": [away, away, "hello"] });
  expect(await ask()).toEqual({ text: "hello", by: "b/two" });
  expect(asked).toEqual(["a/one", "b/two", "b/two", "b/two"]);
  // Waiting is no attempt.
  expect(waits()).toBe(2);
});

test("if all stay away, each is named once to the operator, after four rounds", async () => {
  const { ask, asked, reports } = room({ "a/one": [away], "b/two": [away] });
  await expect(ask()).rejects.toMatchObject({
    reason: "speech_unavailable",
    message: "a/one: cannot be reached; b/two: cannot be reached",
  });
  expect(asked).toHaveLength(8);
  expect(reports).toEqual(["away a/one: cannot be reached", "away b/two: cannot be reached"]);
});

test("what refuses fails at once, with the hint of the first", async () => {
  const { ask, asked } = room({ "a/one": [wrongKey], "b/two": [wrongKey] });
  await expect(ask()).rejects.toMatchObject({ reason: "speech_failed", hint: "Check the key." });
  expect(asked).toHaveLength(2);
});

test("a used-up budget is what the person reads, whatever the others said", async () => {
  const used = () => new EngineError("budget_exceeded", { detail: "used up" });
  const { ask } = room({ "a/one": [wrongKey], "b/two": [used] });
  await expect(ask()).rejects.toMatchObject({ reason: "budget_exceeded" });
});
