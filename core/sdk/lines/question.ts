/** Questions to the server whose answer comes in lines of its own. */
import type { LineLink } from "./protocol.ts";

/** How long the server may take to answer, in milliseconds. */
const answerMs = 20_000;

/** One question is under way at a time, because an answer need not say what it is about. */
export function createServerQuestions({
  write,
  fail,
  lost,
}: Pick<LineLink, "write" | "fail" | "lost">): Pick<LineLink, "ask" | "answer" | "answered"> {
  let last: Promise<unknown> = Promise.resolve();
  let answers: string[] = [];
  let end = () => {};

  async function ask(line: string): Promise<readonly string[]> {
    const ended = Promise.withResolvers<void>();
    answers = [];
    end = ended.resolve;
    write(line);
    // A late answer must not be taken for that to a later question, which may be about another person.
    const timer = setTimeout(() => fail(new Error("The server does not answer a question")), answerMs);
    await Promise.race([ended.promise, lost]);
    clearTimeout(timer);
    return answers;
  }

  return {
    ask(line) {
      const asked = last.then(() => ask(line));
      last = asked.catch(() => {});
      return asked;
    },
    answer: (text) => void answers.push(text),
    answered: () => end(),
  };
}
