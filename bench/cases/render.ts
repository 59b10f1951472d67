/**
 * Renders a Markdown reply as messages in the platform's HTML, against the Markdown parser's own HTML, which is neither
 * split nor checked.
 */
import { createRequire } from "node:module";
import type { MarkdownIt, MarkdownItOptions } from "markdown-it";
import { renderMarkdown } from "../../core/sdk/markup/render.ts";
import { ratesByTurns } from "./in-process.ts";
import { atLeast, type Bench, median, paired, spread } from "./report.ts";

const section = (step: number) => `## Step ${step}: look at the queue

The **worker** takes *one* job at a time, see [the manual](https://docs.example.org/queue?page=${step}&lang=en),
and writes
\`job.done\` when it is over. What it did before is ~~lost~~ kept in README.md, so that you can compare & repeat it.

- stop the worker, and wait until it says so
  - on a **slow** machine that takes \`${step}0\` seconds
- start it again

\`\`\`ts
export async function drain(queue: Queue<Job>) {
  for await (const job of queue) if (job.age < ${step}) await job.run();
}
\`\`\`

| queue | jobs | state |
|-------|-----:|-------|
| mail | ${step * 17} | running |
| hooks | 4 | *waits* |

> What is in the queue when the machine stops
> is there when it starts again.

`;

const answer = Array.from({ length: 6 }, (_, index) => section(index + 1)).join("");
const Markdown = createRequire(import.meta.url)("markdown-it") as new (
  preset: string,
  options: MarkdownItOptions,
) => MarkdownIt;
const parser = new Markdown("default", { html: false });

const works = {
  ours: () =>
    renderMarkdown(answer, { dialect: "html", limit: 4_000 })
      .map(({ markup }) => markup)
      .join(""),
  reference: () => parser.render(answer),
};

export const render: Bench = {
  name: "render",
  summary: `a Markdown answer of ${answer.length} characters, with everything in it, to messages that can be sent`,
  async run({ rounds }) {
    const { ours, reference } = ratesByTurns(works, { rounds, batch: 20 });
    const ratios = paired(ours, reference);
    return [
      {
        name: "render",
        figure: "answers a second; reference: the Markdown parser's own HTML",
        ours: spread(ours, 0),
        reference: spread(reference, 0),
        measure: `ratio ${spread(ratios, 2)}`,
        ...atLeast(median(ratios), 0.5),
      },
    ];
  },
};
