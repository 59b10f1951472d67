/** The rules of tools under kills. */
import type { Check } from "../checks.ts";
import type { StatePlace } from "../place.ts";
import { runsIn } from "./journal.ts";
import type { Job, SoakModel } from "./model.ts";
import type { Question } from "./owner.ts";

const writing = ["note", "stamp", "danger"];
/** Codes of calls that were answered without being made. */
const noted = ["outcome_unknown", "called_before", "tool_recorded"] as const;

export interface ToolEvidence {
  readonly place: StatePlace;
  readonly model: SoakModel;
  readonly jobs: readonly Job[];
  readonly journal: string;
  /** Everything that the bot has said. */
  readonly texts: string;
  readonly questions: readonly Question[];
  readonly exitCode: number | string;
}

export async function judgeTools(
  evidence: ToolEvidence,
): Promise<{ readonly checks: readonly Check[]; readonly summary: string }> {
  const { place, model, jobs, journal, texts, questions, exitCode } = evidence;
  const runs = runsIn(journal);
  const ranTimes = (tool: string, word: string) => runs.filter((run) => run.tool === tool && run.word === word).length;
  const asked = jobs.flatMap(({ word, tools }) => tools.map((tool) => ({ tool, word, key: `${tool} ${word}` })));
  const written = asked.filter(({ tool }) => writing.includes(tool));
  const [state, rows, reminders] = await Promise.all([place.read(), place.modelCalls(), place.reminders()]);
  const mayRun = (key: string) => 1 + (model.repeats.get(key) ?? 0);
  const isAnswered = (word: string) => texts.includes(`done ${word},`);
  const setFor = (word: string) => reminders.filter((text) => text.startsWith(`${word} `)).length;
  const open = [...state.units.values()].filter(({ state }) => state !== 2);

  const twice = written.filter(({ tool, word, key }) => ranTimes(tool, word) > mayRun(key));
  const never = written.filter(
    ({ tool, word, key }) =>
      tool !== "danger" && isAnswered(word) && ranTimes(tool, word) === 0 && !model.unknown.has(key),
  );
  const remind = asked.filter(({ tool }) => tool === "remind");
  const twiceSet = remind.filter(({ word, key }) => setFor(word) > mayRun(key));
  const neverSet = remind.filter(({ word }) => isAnswered(word) && setFor(word) === 0);
  const falselyAllowed = questions.filter(
    ({ word, text }) =>
      text.includes("Allowed by") && ranTimes("danger", word) === 0 && !model.unknown.has(`danger ${word}`),
  );
  const stillOpen = questions.filter(({ isOpen }) => isOpen);
  const times = (code: string) => [...state.codes.values()].flat().filter((one) => one === code).length;
  const exhausted = [...state.units.values()].filter(({ reason }) => reason === "attempts_exhausted").length;
  const words = (found: readonly { readonly tool?: string; readonly word: string }[]) =>
    found.map(({ tool = "", word }) => `${tool} ${word}`.trim());

  return {
    checks: [
      {
        rule:
          "no writing tool runs twice, unless the model asked again after it had read that the call was " +
          "made before",
        violations: words(twice),
      },
      {
        rule: "a job that was answered has run each of its tools, or its model has read that the outcome is unknown",
        violations: words(never),
      },
      { rule: "a reminder is set once, whatever its words", violations: words(twiceSet) },
      { rule: "a job that was answered has its reminder", violations: words(neverSet) },
      {
        rule: "every request that a model received is in the ledger",
        violations: rows < model.requests() ? [`${rows} rows for ${model.requests()} requests`] : [],
      },
      { rule: "an owner reads that a call was allowed only if it has begun", violations: words(falselyAllowed) },
      { rule: "no question stays open", violations: words(stillOpen) },
      { rule: "every event has ended", violations: open.map(({ event_id: id }) => id) },
      { rule: "the last process ends by itself", violations: exitCode === 0 ? [] : [`it ended with ${exitCode}`] },
    ],
    summary: [
      `${jobs.length} jobs, ${jobs.filter(({ word }) => isAnswered(word)).length} answered, ${exhausted} ` +
        "given up after three attempts",
      `${runs.length} runs of writing tools, ` +
        `${written.filter(({ tool, word }) => ranTimes(tool, word) > 1).length} more than once, all asked for ` +
        "again",
      ...noted.map((code) => `${times(code)} ${code}`),
      `${reminders.length} reminders, ${rows} calls in the ledger for ${model.requests()} requests, ` +
        `${questions.length} questions`,
    ].join(", "),
  };
}
