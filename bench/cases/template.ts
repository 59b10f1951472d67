/**
 * Renders a mapping's template in this process, against the same text concatenated by hand and against JSON of the same
 * payload.
 */

import { compileTemplate } from "../../core/webhooks/mapping/template.ts";
import type { HookDelivery } from "../../core/webhooks/mapping/webhook-delivery.ts";
import { ratesByTurns } from "./in-process.ts";
import { atLeast, type Bench, median, paired, spread } from "./report.ts";

const commits = Array.from({ length: 8 }, (_, index) => ({
  id: `${index}d7d4b1f0a6c3e29e5f7a2c8b1d9e4f6a0b3c5d`,
  message: `Change number ${index}: the retry waits for the time that the server names`,
  timestamp: "2026-11-20T16:20:11Z",
  author: { name: "Ada Example", email: "ada@example.org" },
}));

const payload = {
  ref: "refs/heads/main",
  compare: "https://git.example.org/acme/gateway/compare/1a2b3c...4d5e6f",
  repository: {
    id: 4711,
    full_name: "acme/gateway",
    private: false,
    owner: { login: "acme" },
    topics: ["hooks", "agents"],
  },
  pusher: { name: "ada", email: "ada@example.org" },
  commits,
};

const delivery: HookDelivery = {
  path: "github",
  source: "",
  headers: Object.freeze(Object.assign(Object.create(null), { "x-github-event": "push", "user-agent": "hookshot" })),
  query: Object.freeze(Object.create(null)),
  payload,
  now: "2026-11-20T16:20:12.000Z",
};

const template = compileTemplate(
  [
    "{{ headers.x-github-event }} to {{ repository.full_name }} ({{ ref }}) by {{ pusher.name }} <{{ " +
      "pusher.email }}> at {{ now }}",
    "Newest: {{ commits[0].message }}, by {{ commits[0].author.name }}",
    "All {{ commits.length }} of them: {{ compare }}",
    "Topics: {{ repository.topics }}",
  ].join("\n"),
);

function joinByHand({ headers, now }: HookDelivery): string {
  const { repository, ref, pusher, compare } = payload;
  const [first] = payload.commits;
  const push =
    `${headers["x-github-event"]} to ${repository.full_name} (${ref}) by ${pusher.name} ` +
    `<${pusher.email}> at ${now}`;
  const newest = `Newest: ${first?.message}, by ${first?.author.name}`;
  return (
    `${push}\n${newest}\nAll ${payload.commits.length} of them: ${compare}\nTopics: ` +
    `${JSON.stringify(repository.topics)}`
  );
}

const works = {
  ours: () => template.render(delivery),
  "the same text joined by hand": () => joinByHand(delivery),
  "JSON.stringify of the payload": () => JSON.stringify(payload),
};

export const templates: Bench = {
  name: "templates",
  summary:
    `a template of ${template.reads.length} expressions over a payload of ` + `${JSON.stringify(payload).length} bytes`,
  async run({ rounds }) {
    if (works.ours() !== joinByHand(delivery)) throw new Error("the template and the text joined by hand differ");
    const { ours, ...references } = ratesByTurns(works, { rounds, batch: 1_000 });
    return Object.entries(references).map(([reference, rates], index) => ({
      name: "templates",
      figure: `renders a second; reference: ${reference}`,
      ours: spread(ours, 0),
      reference: spread(rates, 0),
      measure: `ratio ${spread(paired(ours, rates), 2)}`,
      ...(index === 0 ? atLeast(median(ours), 200_000) : {}),
    }));
  },
};
