/**
 * GitLab: pushes, merge requests, issues, comments, releases, and failed pipelines and deployments.
 *
 * `match: { path: "gitlab" }`, `signature: { scheme: "gitlab", secret: ... }`. `quiet` below lists the events that are
 * not reported, with the reason. Each merge request or issue has its own conversation:
 * `hook:gitlab:<group/project>:!<number>`; pushes and pipelines have one for each branch.
 */
import {
  at,
  bold,
  type Context,
  code,
  count,
  cut,
  items,
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

/** The reason for silence, then the kinds: a name, and optionally its actions (default: all). */
const quiet: readonly (readonly [reason: string, ...kinds: string[]])[] = [
  [
    "a change of metadata, which the page shows",
    "issue update",
    "work_item update",
    "merge_request update",
    "wiki_page update",
    "milestone update",
  ],
  ["edits of comments are visible on the page", "note update", "release update"],
  ["single approvals; `approved` is the last of them", "merge_request approval unapproval"],
  ["the pipeline reports the result", "build"],
  ["stars and forks are not reported", "emoji"],
];

interface Story {
  /** Follows the name of the person. */
  readonly line: string;
  /** Replaces the name of the person. */
  readonly by?: string;
  readonly detail?: string;
  readonly body?: string;
  readonly about?: unknown;
}

interface Delivery {
  readonly action: string;
  see(path: string): unknown;
}

type Writer = (delivery: Delivery) => Story | null;

const short = (sha: unknown) => code(word(sha).slice(0, 8));
const branch = (ref: unknown) => word(ref).replace(/^refs\/(heads|tags)\//, "");
/** Escapes a branch name for a URL, because it may contain characters with a special meaning there. */
const inPath = (part: unknown) => encodeURI(cut(branch(part), 200).toWellFormed()).replace(/[?#]/g, encodeURIComponent);
const isNone = (sha: unknown) => /^0+$/.test(word(sha));
const readable = (name: unknown) => plain(word(name).replaceAll("_", " "), 60);
const firstLine = (text: unknown) => plain(word(text).split("\n")[0]);

const whoOf = (see: Delivery["see"]) =>
  plain(see("user_username") ?? see("user.username") ?? see("user_name") ?? see("user.name"), 60);

const verbs = new Map([
  ["open", "opened"],
  ["close", "closed"],
  ["reopen", "reopened"],
  ["merge", "merged"],
  ["create", "created"],
  ["update", "updated"],
  ["delete", "deleted"],
  ["unapproved", "took back an approval of"],
]);
const past = (action: string) => verbs.get(action) ?? readable(action);

/** How many commits are shown, newest first. */
const mostCommits = 8;

const push: Writer = ({ see }) => {
  const name = code(branch(see("ref")));
  const commits = list(see("commits"));
  if (isNone(see("after"))) return { line: words("deleted branch", name), about: branch(see("ref")) };
  const total = Math.max(commits.length, Number(see("total_commits_count")) || 0);
  const isNew = isNone(see("before"));
  if (total === 0)
    return {
      line: words(isNew ? "created branch" : "moved branch", name, isNew ? "at" : "to", short(see("after"))),
      about: branch(see("ref")),
    };
  const site = word(see("project.web_url"));
  const compare =
    site && !isNew
      ? `${site}/-/compare/${inPath(see("before"))}...${inPath(see("after"))}`
      : site && `${site}/-/commits/${inPath(see("ref"))}`;
  const lines = commits
    .slice(-mostCommits)
    .toReversed()
    .map((commit) => {
      const author = plain(at(commit, "author.name"), 60);
      return words(
        link(short(at(commit, "id")), at(commit, "url")),
        firstLine(at(commit, "title") ?? at(commit, "message")),
        author && `(${author})`,
      );
    });
  return {
    line: words("pushed", link(count(total, "commit"), compare), "to", isNew ? "new branch" : "", name),
    body: items(lines, { max: mostCommits, total }),
    about: branch(see("ref")),
  };
};

const tag: Writer = ({ see }) => {
  const name = code(branch(see("ref")));
  const verb = isNone(see("after")) ? "deleted tag" : "pushed tag";
  const site = word(see("project.web_url"));
  return {
    line: words(verb, link(name, site && `${site}/-/tags/${inPath(see("ref"))}`)),
    body: quote(see("message")),
    about: branch(see("ref")),
  };
};

/** `!12 Title` for a merge request, `#12 Title` for an issue. */
const titled = (it: unknown, sign: string, address: unknown = at(it, "url")) =>
  link(words(`${sign}${plain(at(it, "iid"), 12)}`, plain(at(it, "title"))), address);

const issue: Writer = ({ see, action }) => {
  const it = see("object_attributes");
  const kind = readable(at(it, "type")).toLowerCase() || "issue";
  return {
    line: words(past(action), kind, titled(it, "#")),
    body: action === "open" ? quote(at(it, "description")) : "",
    about: `#${word(at(it, "iid"))}`,
  };
};

const mergeRequest: Writer = ({ see, action }) => {
  const it = see("object_attributes");
  const kind = (at(it, "draft") ?? at(it, "work_in_progress")) === true ? "draft merge request" : "merge request";
  return {
    line: words(past(action), kind, titled(it, "!")),
    detail:
      action === "open" || action === "merge"
        ? words(code(at(it, "source_branch")), "→", code(at(it, "target_branch")))
        : "",
    body: action === "open" ? quote(at(it, "description")) : "",
    about: `!${word(at(it, "iid"))}`,
  };
};

const note: Writer = ({ see }) => {
  if (see("object_attributes.system") === true) return nothing("what GitLab notes by itself also arrives as an event");
  const address = see("object_attributes.url");
  const on =
    see("merge_request") != null
      ? (["merge request", titled(see("merge_request"), "!", address), `!${word(see("merge_request.iid"))}`] as const)
      : see("issue") != null
        ? (["issue", titled(see("issue"), "#", address), `#${word(see("issue.iid"))}`] as const)
        : see("commit") != null
          ? (["commit", link(words(short(see("commit.id")), firstLine(see("commit.message"))), address), ""] as const)
          : (["", link(readable(see("object_attributes.noteable_type")) || "something", address), ""] as const);
  return { line: words("commented on", on[0], on[1]), body: quote(see("object_attributes.note")), about: on[2] };
};

const pipeline: Writer = ({ see }) => {
  const it = see("object_attributes");
  if (at(it, "status") !== "failed") return nothing("successful pipelines are not reported");
  const site = word(see("project.web_url"));
  const address = word(at(it, "url")) || (site && `${site}/-/pipelines/${inPath(at(it, "id"))}`);
  const broken = list(see("builds")).filter(
    (build) => at(build, "status") === "failed" && at(build, "allow_failure") !== true,
  );
  const number = word(see("merge_request.iid"));
  return {
    by: `${link(`pipeline ${plain(at(it, "id"), 20)}`, address)} failed`,
    line: words("on", code(at(it, "ref")) || "a branch", number && `(merge request !${plain(number, 12)})`),
    detail: words(
      short(at(it, "sha")),
      firstLine(see("commit.title") ?? see("commit.message")),
      whoOf(see) && `by ${whoOf(see)}`,
    ),
    body: items(
      broken.map((build) =>
        words(
          "job",
          code(at(build, "name")),
          plain(at(build, "stage"), 60) && `of stage ${plain(at(build, "stage"), 60)}`,
        ),
      ),
      { max: 5 },
    ),
    about: number === "" ? at(it, "ref") : `!${number}`,
  };
};

const deployment: Writer = ({ see }) => {
  const status = word(see("status"));
  if (status !== "success" && status !== "failed") return nothing("only the end is reported");
  return {
    by: `deployment to ${bold(see("environment")) || "an environment"}`,
    line: link(status === "failed" ? "failed" : "succeeded", see("deployable_url")),
    detail: words(
      code(see("ref")),
      link(short(see("short_sha")), see("commit_url")),
      firstLine(see("commit_title")),
      whoOf(see) && `by ${whoOf(see)}`,
    ),
    about: see("ref"),
  };
};

/** The payload of a release does not name a person. */
const release: Writer = ({ see, action }) => ({
  by: words(
    "release",
    link(plain(see("name")) || plain(see("tag")), see("url")),
    see("name") === see("tag") ? "" : code(see("tag")),
  ),
  line: `was ${past(action) || "changed"}`,
  body: action === "create" ? quote(see("description"), { max: 1_200, lines: 20 }) : "",
  about: see("tag"),
});

const other: Writer = ({ see, action }) => {
  const name = bold(see("object_attributes.title") ?? see("object_attributes.name"));
  const kind = readable(see("object_kind")) || readable(see("event_name"));
  return { line: words(past(action) || "changed", kind, link(name, see("object_attributes.url"))) };
};

const writers = new Map<string, Writer>([
  ["push", push],
  ["tag_push", tag],
  ["issue", issue],
  ["work_item", issue],
  ["merge_request", mergeRequest],
  ["note", note],
  ["pipeline", pipeline],
  ["deployment", deployment],
  ["release", release],
]);

export default function gitlab({ payload, headers }: Context): MessageFields | null | undefined {
  const header = word(headers["x-gitlab-event"]);
  const kind = word(at(payload, "object_kind")) || word(at(payload, "event_name")) || header;
  // Not from GitLab, so the mapping's own template applies.
  if (kind === "" || (header === "" && at(payload, "project") === undefined)) return undefined;
  const see = (path: string) => at(payload, path);
  const action = word(see("object_attributes.action")) || word(see("action"));
  const reason = quiet.find(([, ...kinds]) =>
    kinds.some((entry) => {
      const [name, ...actions] = entry.split(" ");
      return name === kind && (actions.length === 0 || actions.includes(action));
    }),
  )?.[0];
  if (reason !== undefined) return nothing(reason);
  const story =
    kind === header ? { line: words("sent the event", code(header)) } : (writers.get(kind) ?? other)({ action, see });
  if (story === null) return null;
  const place = word(see("project.path_with_namespace")) || word(see("group.full_path")) || word(see("group_path"));
  const who = story.by ?? (whoOf(see) || "someone");
  return say({
    about: ["gitlab", place, story.about],
    blocks: [
      [`${bold(place) || "**GitLab**"}: ${words(who, story.line)}`, story.detail ?? ""]
        .filter((line) => line !== "")
        .join("\n"),
      story.body ?? "",
    ],
  });
}
