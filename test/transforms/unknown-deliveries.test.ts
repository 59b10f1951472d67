/**
 * Real deliveries of other versions and kinds: each is told in some words, because a refusal makes a sender repeat and
 * report it.
 */
import { expect, test } from "vitest";
import alerts from "../../transforms/alerts.ts";
import github from "../../transforms/github.ts";
import gitlab from "../../transforms/gitlab.ts";
import sentry from "../../transforms/sentry.ts";
import uptime from "../../transforms/uptime.ts";
import { delivery, type Transform, transformed } from "./deliveries.ts";

const repository = { full_name: "ada/house" };
const pull = { number: 3, title: "Doors", html_url: "https://git.example/3", user: { username: "ada" } };

test.each<
  [
    name: string,
    transform: Transform,
    payload: object,
    headers: Readonly<Record<string, string>>,
    message: string | null,
  ]
>([
  [
    "an old alert of Grafana",
    alerts,
    {
      title: "[Alerting] Disk",
      ruleName: "Disk",
      ruleUrl: "https://g.example/d/1",
      state: "alerting",
      message: "91 %",
    },
    {},
    "🔥 [**\\[Alerting\\] Disk**](https://g.example/d/1) (alerting)\n\n> 91 %",
  ],
  [
    "an event of GitLab without a kind",
    gitlab,
    { user_name: "Ada" },
    { "x-gitlab-event": "Emoji Hook" },
    "**GitLab**: Ada sent the event `Emoji Hook`",
  ],
  [
    "a resource of Sentry without data",
    sentry,
    { action: "created" },
    { "sentry-hook-resource": "seer" },
    "**Sentry**: `seer` `created`",
  ],
  [
    "a check without a state",
    uptime,
    { name: "Shop", message: "Certificate expires" },
    {},
    "**Uptime** **Shop**\n\n> Certificate expires",
  ],
  [
    "a label of Gitea",
    github,
    { action: "label_updated", repository, issue: pull },
    { "x-gitea-event": "issues" },
    null,
  ],
  [
    "a comment of Gitea on no line",
    github,
    {
      action: "created",
      repository,
      sender: { username: "ada" },
      pull_request: pull,
      comment: { body: "Nice", html_url: "https://git.example/3#1" },
    },
    { "x-gitea-event": "pull_request_review_comment" },
    "**ada/house**: ada commented on pull request [#3 Doors](https://git.example/3#1)\n\n> Nice",
  ],
  [
    "a pull request of Gogs",
    github,
    {
      action: "opened",
      repository,
      sender: { username: "bob" },
      pull_request: { ...pull, head_branch: "door", base_branch: "main" },
    },
    { "x-gogs-event": "pull_request" },
    "**ada/house**: bob opened pull request [#3 Doors](https://git.example/3)\n`door` → `main`",
  ],
  [
    "a pull request without branches",
    github,
    { action: "opened", repository, pusher: { username: "eve" }, pull_request: pull },
    { "x-github-event": "pull_request" },
    "**ada/house**: eve opened pull request [#3 Doors](https://git.example/3)",
  ],
])("%s", (_, transform, payload, headers, message) => {
  const { fields } = transformed(transform, delivery(payload, headers));
  expect(fields === null ? null : fields?.message).toBe(message);
});
