/**
 * Sentry: issue alerts, issues, metric alerts and comments. Supports integrations (`sentry-hook-resource`) and the
 * older project webhooks.
 *
 * `match: { path: "sentry" }`, `signature: { scheme: "hmac", header: "sentry-hook-signature", secret: <client secret>
 * }`. All events about one issue share a session: `hook:sentry:issue:<id>`.
 */
import {
  at,
  bold,
  type Context,
  code,
  link,
  list,
  type MessageFields,
  nothing,
  plain,
  quote,
  say,
  word,
  words,
} from "./message.ts";

interface Story {
  readonly line: string;
  readonly details?: readonly string[];
  readonly body?: string;
  readonly about: readonly unknown[];
}

type See = (path: string) => unknown;
type Teller = (see: See, action: string) => Story | null;

const readable = (value: unknown, max = 60) => plain(word(value).replaceAll("_", " "), max);
const by = (see: See) =>
  word(see("actor.type")) === "user" && plain(see("actor.name"), 80) ? `by ${plain(see("actor.name"), 80)}` : "";

/** The value of a tag. Tags are pairs, or objects with `key` and `value`. */
function tag(tags: unknown, name: string): unknown {
  const found = list(tags).find((pair) => at(pair, "0") === name || at(pair, "key") === name);
  return at(found, "1") ?? at(found, "value");
}

/** The circumstances of an event, such as `error` in `checkout`, environment and release. */
function circumstances(it: unknown): string {
  const environment = word(at(it, "environment")) || word(tag(at(it, "tags"), "environment"));
  const release = word(at(it, "release")) || word(at(it, "release.version")) || word(tag(at(it, "tags"), "release"));
  const parts = [
    plain(at(it, "level"), 20),
    code(at(it, "culprit"), 120),
    environment && `environment ${code(environment, 60)}`,
    release && `release ${code(release, 60)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The issue's id, from its own field or from the issue's API URL. */
const issueId = (it: unknown) =>
  word(at(it, "issue_id")) || (/\/issues\/(\d+)/.exec(word(at(it, "issue_url")))?.[1] ?? "");
const title = (it: unknown) =>
  plain(word(at(it, "title")) || word(at(it, "message")), 200) || "an event without a title";

const eventOf =
  (root: "event" | "error"): Teller =>
  (see) => {
    const it = see(`data.${root}`);
    const rule = plain(word(see("data.triggered_rule")) || word(see("data.issue_alert.title")), 120);
    return {
      line: words(rule && `alert "${rule}":`, link(title(it), at(it, "web_url"))),
      details: [circumstances(it)],
      about: ["issue", issueId(it) || at(it, "event_id")],
    };
  };

const issue: Teller = (see, action) => {
  const it = see("data.issue");
  const state = word(at(it, "substatus"));
  if (action === "unresolved" && state === "ongoing") return nothing("an issue that continues unchanged");
  const verbs: Readonly<Record<string, string>> = {
    created: "new issue",
    unresolved:
      state === "regressed" ? "issue came back" : state === "escalating" ? "issue escalates" : "issue is open again",
    assigned: words("issue is assigned to", plain(at(it, "assignedTo.name") ?? at(it, "assignedTo.email"), 80)),
    ignored: "issue is archived",
  };
  const verb = (Object.hasOwn(verbs, action) && verbs[action]) || `issue is ${readable(action)}`;
  const many =
    Number(at(it, "count")) > 1
      ? `${plain(at(it, "count"), 12)} events, ${plain(at(it, "userCount"), 12) || "0"} users`
      : "";
  return {
    line:
      `${words(verb, by(see))}: ` +
      `${link(words(code(at(it, "shortId"), 40), title(it)), word(at(it, "web_url")) || at(it, "permalink"))}`,
    details: [
      words(plain(at(it, "project.name"), 60) && `Project ${plain(at(it, "project.name"), 60)}.`, circumstances(it)),
      many,
    ],
    about: ["issue", at(it, "id")],
  };
};

const metricAlert: Teller = (see, action) => {
  const it = see("data.metric_alert");
  const name =
    plain(word(see("data.description_title")) || word(at(it, "alert_rule.name")) || word(at(it, "title")), 200) ||
    "metric alert";
  const sign = action === "resolved" ? "✅" : action === "warning" ? "⚠️" : "🔥";
  return {
    line: words(
      sign,
      link(name, see("data.web_url")),
      list(at(it, "projects")).length > 0
        ? `in ${list(at(it, "projects"))
            .slice(0, 3)
            .map((project) => code(project, 40))
            .join(", ")}`
        : "",
    ),
    // Sentry sends line breaks as the two characters `\n`.
    body: quote(word(see("data.description_text")).replaceAll("\\n", "\n")),
    about: ["metric", word(at(it, "alert_rule.id")) || at(it, "id")],
  };
};

const comment: Teller = (see, action) => {
  if (action !== "created") return nothing("edits of comments are visible on the page");
  return {
    line: words(
      plain(see("actor.name"), 80) || "someone",
      "commented on issue",
      code(see("data.issue_id"), 40),
      code(see("data.project_slug"), 60) && `of ${code(see("data.project_slug"), 60)}`,
    ),
    body: quote(see("data.comment")),
    about: ["issue", see("data.issue_id")],
  };
};

const stories = new Map<string, Teller>([
  ["event_alert", eventOf("event")],
  ["error", eventOf("error")],
  ["issue", issue],
  ["metric_alert", metricAlert],
  ["comment", comment],
  [
    "installation",
    (see, action) => ({
      line: words(
        "the integration",
        bold(see("data.installation.app.slug")),
        "is",
        action === "created" ? "installed" : readable(action),
        by(see),
      ),
      about: [],
    }),
  ],
]);

/** The older project webhooks: a single format, without the header. */
const legacy = (payload: unknown): Story => ({
  line: words(
    bold(word(at(payload, "project_name")) || word(at(payload, "project"))),
    link(title(at(payload, "event")), at(payload, "url")),
  ),
  details: [
    circumstances({
      level: at(payload, "level"),
      culprit: at(payload, "culprit"),
      tags: at(payload, "event.tags"),
      environment: at(payload, "event.environment"),
    }),
  ],
  about: ["issue", at(payload, "id")],
});

export default function sentry({ payload, headers }: Context): MessageFields | null | undefined {
  const resource = word(headers["sentry-hook-resource"]);
  const action = word(at(payload, "action"));
  const see: See = (path) => at(payload, path);
  const isLegacy =
    resource === "" && typeof see("event") === "object" && see("event") !== null && word(see("url")) !== "";
  // Neither of the two formats, so the mapping's own template applies.
  if (!isLegacy && resource === "") return undefined;
  const known = typeof see("data") === "object" && see("data") !== null ? stories.get(resource) : undefined;
  const story = isLegacy
    ? legacy(payload)
    : known
      ? known(see, action)
      : { line: words(code(resource, 60), code(action, 60), by(see)), about: [resource] };
  if (story === null) return null;
  return say({
    about: ["sentry", ...story.about],
    blocks: [
      [`**Sentry**: ${story.line}`, ...(story.details ?? [])].filter((line) => line !== "").join("\n"),
      story.body ?? "",
    ],
  });
}
