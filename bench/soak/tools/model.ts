/**
 * A model server for the soak. A message `job WORD: TOOL TOOL ...` makes it call these tools, one after the other. Half
 * of the words are called in other words each time, as a model does whose turn runs again. It keeps no state: a request
 * says what was done.
 */
import { callTools, say } from "../../../test/openai-server/answers.ts";
import { type ChatRequest, createOpenAiServer, type OpenAiServer } from "../../../test/openai-server/index.ts";
import { drawn } from "./journal.ts";

type Message = ChatRequest["body"]["messages"][number];

/** The codes after which a model may call once more. */
const mayRepeat = /"code":"(?:outcome_unknown|called_before)"/;

const names: Readonly<Record<string, string>> = { note: "journal__note" };
/** Far enough that none is due while the soak runs. */
const remindAt = "2099-03-01T09:00";

export interface Job {
  readonly word: string;
  readonly tools: readonly string[];
}

export interface SoakModel extends Pick<OpenAiServer, "url" | "close"> {
  /** Requests that were received in full. */
  requests(): number;
  /** Calls that were made after the model had read that the call was made before, by tool and word. */
  readonly repeats: ReadonlyMap<string, number>;
  /** Words whose model has read that an outcome is unknown, by tool and word. */
  readonly unknown: ReadonlySet<string>;
  /** Called at each call of a tool. */
  onCall(listener: () => void): void;
}

const textOf = ({ content }: Message): string =>
  typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content.map((part: { readonly text?: string }) => part.text ?? "").join("")
      : "";

function jobIn(text: string): Job | undefined {
  const [last] = [...text.matchAll(/job (\w+): ([a-z ]+)/g)].slice(-1);
  return last?.[1] === undefined ? undefined : { word: last[1], tools: (last[2] ?? "").trim().split(" ") };
}

/** Whether each call for a word is made in other words. */
export const isRewordedIn = (word: string): boolean => drawn(word, "reworded", 2) === 1;

const argsOf = (tool: string, word: string): object => {
  const text = isRewordedIn(word) ? `${word} in other words, ${Math.random()}` : `${word} in the same words`;
  return tool === "remind" ? { text, at: remindAt } : { word, text };
};

export async function createSoakModel(): Promise<SoakModel> {
  const repeats = new Map<string, number>();
  const unknown = new Set<string>();
  let onCall = () => {};

  const server = await createOpenAiServer({
    answer: () => async (exchange) => {
      const { messages } = exchange.body as unknown as ChatRequest["body"];
      const from = messages.findLastIndex(({ role }) => role === "user");
      const asked = messages[from];
      const job = asked && jobIn(textOf(asked));
      if (job === undefined) return await say("nothing to do")(exchange);
      const results = messages.slice(from + 1).filter(({ role }) => role === "tool");
      let step = 0;
      let isRepeated = false;
      let times = 0;
      for (const result of results) {
        const text = textOf(result);
        const key = `${job.tools[step]} ${job.word}`;
        if (text.includes("outcome_unknown")) unknown.add(key);
        times = mayRepeat.test(text) ? times + 1 : 0;
        // Half of those that look find that it must be done again.
        isRepeated = times > 0 && times < 3 && drawn(key, `again ${times}`, 2) === 1;
        if (!isRepeated) {
          step += 1;
          times = 0;
        }
      }
      const tool = job.tools[step];
      if (tool === undefined)
        return await say(`done ${job.word}, which took ${results.length} calls`, { delayMs: 5 })(exchange);
      const key = `${tool} ${job.word}`;
      if (isRepeated) repeats.set(key, (repeats.get(key) ?? 0) + 1);
      await callTools([{ name: names[tool] ?? tool, args: argsOf(tool, job.word) }])(exchange);
      onCall();
    },
  });
  return {
    url: server.url,
    close: server.close,
    requests: () => server.requests.length,
    repeats,
    unknown,
    onCall(listener) {
      onCall = listener;
    },
  };
}
