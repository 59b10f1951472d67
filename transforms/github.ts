/**
 * GitHub, and Gitea, Forgejo and Gogs, which send the same: pushes, pull requests, issues, comments, reviews, releases,
 * CI failures, and one line for other events.
 *
 * `match: { path: "github" }`, `signature: { scheme: "github", secret: ... }`, content type `application/json`. `quiet`
 * below lists the events that are not reported, with the reason; remove a line to report its event. Each pull request
 * or issue has its own conversation: `hook:github:<owner/repository>:<number>`; pushes and builds have one for each
 * branch.
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

/** The reason for silence, then the events: a name, and optionally its actions (default: all). */
const quiet: readonly (readonly [reason: string, ...events: string[]])[] = [
  ["the push event reports it", "pull_request synchronize synchronized"],
  [
    "a change of metadata, which the page shows",
    "issues edited labeled unlabeled unassigned milestoned demilestoned locked unlocked pinned unpinned typed untyped",
    "pull_request edited labeled unlabeled unassigned milestoned demilestoned locked unlocked " +
      "converted_to_draft review_request_removed",
    // Gitea's names.
    "issues label_updated label_cleared",
    "pull_request label_updated label_cleared",
    "pull_request auto_merge_enabled auto_merge_disabled enqueued dequeued",
    "pull_request_review_thread",
    "discussion edited labeled unlabeled locked unlocked pinned unpinned category_changed unanswered",
    "label",
    "milestone edited opened deleted",
    "repository edited",
    "sub_issues",
    "issue_dependencies",
  ],
  ["edits of comments are visible on the page", "issue_comment edited deleted", "pull_request_review edited"],
  [
    "edits of comments are visible on the page",
    "pull_request_review_comment edited deleted",
    "discussion_comment edited deleted",
  ],
  [
    "board changes are too frequent",
    "project",
    "project_card",
    "project_column",
    "projects_v2",
    "projects_v2_item",
    "projects_v2_status_update",
  ],
  ["stars and forks are not reported", "star", "watch", "fork"],
  [
    "a release sends three events; only `published` is reported",
    "release created edited prereleased released unpublished",
  ],
  ["only the end is reported", "workflow_run requested in_progress", "check_suite requested rerequested", "deployment"],
  ["the run or the suite reports the result", "workflow_job", "check_run", "merge_group"],
  ["another event reports the same", "registry_package", "secret_scanning_alert_location"],
  ["the author already knows", "workflow_dispatch", "repository_dispatch"],
  [
    "it is settled",
    "dependabot_alert fixed auto_dismissed dismissed",
    "repository_vulnerability_alert dismiss resolve",
  ],
  ["it is settled", "code_scanning_alert fixed closed_by_user appeared_in_branch", "secret_scanning_alert resolved"],
  ["about every package of the world; `dependabot_alert` names those that are yours", "security_advisory"],
];

interface Story {
  /** Follows the name of the person, such as `closed issue [#1 ...](...)`. */
  readonly line: string;
  readonly detail?: string;
  readonly body?: string;
  /** The subject of the session, inside the repository. */
  readonly about?: unknown;
  /** Replaces the sender. */
  readonly by?: string;
}

interface Delivery {
  readonly event: string;
  readonly action: string;
  see(path: string): unknown;
  /** Whether the sender is a bot. */
  readonly isBot: boolean;
}

const short = (sha: unknown) => code(word(sha).slice(0, 7));
const branch = (ref: unknown) => word(ref).replace(/^refs\/(heads|tags)\//, "");
const numbered = (number: unknown) => plain(number, 12) && `#${plain(number, 12)}`;
/** `#42 Title`, linked to its page or to the given address. */
const titled = (it: unknown, address: unknown = at(it, "html_url")) =>
  link(words(numbered(at(it, "number")), plain(at(it, "title"))) || "without a title", address);
const readable = (name: unknown) => plain(word(name).replaceAll("_", " "));

/** Actions whose names are not in the past tense. */
const verbs = new Map([
  ["create", "created"],
  ["suspend", "suspended"],
  ["unsuspend", "unsuspended"],
  ["new_permissions_accepted", "accepted new permissions of"],
  ["pending_tier_change", "will change the tier of the"],
  ["pending_cancellation", "will cancel the"],
  ["member_added", "added"],
  ["member_removed", "removed"],
  ["member_invited", "invited"],
  ["added_to_repository", "gave the repository to"],
  ["removed_from_repository", "took the repository from"],
]);
const past = (action: string) => verbs.get(action) ?? readable(action);

/** Conclusions that are reported, and how they are worded. */
const ends = new Map([
  ["failure", "failed"],
  ["error", "failed"],
  ["timed_out", "took too long"],
  ["startup_failure", "could not start"],
  ["action_required", "waits for approval"],
]);
const failed = (result: unknown) => ends.has(word(result));
const ended = (result: unknown) => ends.get(word(result)) ?? readable(result);
const quoted = (value: unknown) => quote(value);

/** How many commits are shown, newest first. */
const mostCommits = 8;

const push = ({ see, isBot }: Delivery): Story | null => {
  const ref = word(see("ref"));
  const name = code(branch(ref));
  const commits = list(see("commits"));
  if (see("deleted") === true) return nothing("the event `delete` reports it");
  const place = link(commits.length > 0 ? count(commits.length, "commit") : name, see("compare"));
  if (ref.startsWith("refs/tags/"))
    return { line: words("pushed tag", link(name, see("head_commit.url"))), about: branch(ref) };
  if (isBot && branch(ref) !== word(see("repository.default_branch"))) return nothing("a bot works on its own branch");
  if (commits.length === 0 && see("created") === true)
    return nothing("the event `create` reports it; it has no commit yet");
  if (commits.length === 0)
    return {
      line: words(see("forced") === true ? "force-pushed" : "moved", place, "to", short(see("after"))),
      about: branch(ref),
    };
  const lines = commits
    .slice(-mostCommits)
    .toReversed()
    .map((commit) => {
      const author = plain(at(commit, "author.username") ?? at(commit, "author.name"), 60);
      return words(
        link(short(at(commit, "id")), at(commit, "url")),
        plain(word(at(commit, "message")).split("\n")[0]),
        author && `(${author})`,
      );
    });
  const verb = see("forced") === true ? "force-pushed" : "pushed";
  return {
    line: words(verb, place, "to", see("created") === true ? "new branch" : "", name),
    body: items(lines, { max: mostCommits, total: commits.length }),
    about: branch(ref),
  };
};

const pullRequest = ({ see, action }: Delivery): Story => {
  const it = see("pull_request");
  const merged = action === "closed" && at(it, "merged") === true;
  const what = words(at(it, "draft") === true ? "draft pull request" : "pull request", titled(it));
  const whom = plain(see("requested_reviewer.login") ?? see("requested_team.name"), 60);
  const sentences: Readonly<Record<string, string>> = {
    ready_for_review: `marked ${what} ready for review`,
    review_requested: `asked ${whom || "someone"} to review ${what}`,
    assigned: `assigned ${plain(see("assignee.login"), 60) || "someone"} to ${what}`,
  };
  const begins = action === "opened" || action === "ready_for_review";
  const files = at(it, "changed_files");
  const lines = `+${plain(at(it, "additions"), 12) || 0} −${plain(at(it, "deletions"), 12) || 0}`;
  const size = typeof files === "number" ? `${lines} in ${count(files, "file")}` : "";
  const [head, base] = [
    code(at(it, "head.label") ?? at(it, "head.ref") ?? at(it, "head_branch")),
    code(at(it, "base.ref") ?? at(it, "base_branch")),
  ];
  const route = head === "" || base === "" ? words(head, base) : `${head} → ${base}`;
  return {
    line: (Object.hasOwn(sentences, action) && sentences[action]) || `${merged ? "merged" : readable(action)} ${what}`,
    detail: begins || merged ? [route, size].filter((part) => part !== "").join(", ") : "",
    body: begins ? quoted(at(it, "body")) : "",
    about: at(it, "number"),
  };
};

const issue = ({ see, action }: Delivery): Story => {
  const it = see("issue");
  const what = `issue ${titled(it)}`;
  const lines: Readonly<Record<string, string>> = {
    assigned: `assigned ${plain(see("assignee.login"), 60) || "someone"} to ${what}`,
    closed: words("closed", what, word(at(it, "state_reason")) && `as ${readable(at(it, "state_reason"))}`),
    transferred: words(
      "transferred",
      what,
      "to",
      link(plain(see("changes.new_repository.full_name")) || "elsewhere", see("changes.new_issue.html_url")),
    ),
  };
  return {
    line: (Object.hasOwn(lines, action) && lines[action]) || `${readable(action)} ${what}`,
    body: action === "opened" ? quoted(at(it, "body")) : "",
    about: at(it, "number"),
  };
};

const issueComment = ({ see, isBot }: Delivery): Story | null => {
  if (isBot) return nothing("reports of bots are on the page, and checks report the same");
  const kind = see("issue.pull_request") === undefined ? "issue" : "pull request";
  const what = titled(see("issue"), see("comment.html_url"));
  return { line: `commented on ${kind} ${what}`, body: quoted(see("comment.body")), about: see("issue.number") };
};

const review = ({ see, action, isBot }: Delivery): Story | null => {
  const state = word(see("review.state")).toLowerCase();
  if (state === "commented" && isBot) return nothing("remarks of bots are on the page");
  if (state === "commented" && word(see("review.body")) === "")
    return nothing("a review without a text; its comments come one by one");
  const verbs: Readonly<Record<string, string>> = { approved: "approved", changes_requested: "asked for changes in" };
  const verb =
    action === "dismissed" ? "dismissed a review of" : (Object.hasOwn(verbs, state) && verbs[state]) || "reviewed";
  const what = titled(see("pull_request"), see("review.html_url"));
  return { line: `${verb} pull request ${what}`, body: quoted(see("review.body")), about: see("pull_request.number") };
};

const reviewComment = ({ see, isBot }: Delivery): Story | null => {
  if (isBot) return nothing("remarks of bots are on the page");
  const place = code(
    [word(see("comment.path")), word(see("comment.line") ?? see("comment.original_line"))]
      .filter((part) => part !== "")
      .join(":"),
    160,
  );
  const what = titled(see("pull_request"), see("comment.html_url"));
  return {
    line: words("commented on", place && `${place} in`, "pull request", what),
    body: quoted(see("comment.body")),
    about: see("pull_request.number"),
  };
};

const release = ({ see, action }: Delivery): Story => {
  const name = plain(see("release.name")) || plain(see("release.tag_name"));
  const tag = word(see("release.tag_name"));
  const kind = see("release.prerelease") === true ? "prerelease" : "release";
  return {
    line: words(
      readable(action),
      kind,
      link(name, see("release.html_url")),
      tag === word(see("release.name")) ? "" : code(tag),
    ),
    body: action === "published" ? quote(see("release.body"), { max: 1_200, lines: 20 }) : "",
    about: tag,
  };
};

/** Reports builds only if they fail, because success is the normal case. */
const build =
  (root: "workflow_run" | "check_suite") =>
  ({ see }: Delivery): Story | null => {
    const it = see(root);
    const result = at(it, "conclusion");
    if (!failed(result)) return nothing("successful builds are not reported");
    if (root === "check_suite" && word(at(it, "app.slug")) === "github-actions")
      return nothing("the event `workflow_run` reports it");
    const name = plain(at(it, "name")) || plain(at(it, "app.name"));
    const number = at(it, "pull_requests.0.number");
    const head = words(short(at(it, "head_sha")), plain(word(at(it, "head_commit.message")).split("\n")[0]));
    const address =
      at(it, "html_url") ??
      (word(see("repository.html_url")) &&
        `${word(see("repository.html_url"))}/commit/${word(at(it, "head_sha"))}/checks`);
    return {
      by: words(link(name || "a build", address), ended(result)),
      line: words(
        "on",
        code(at(it, "head_branch")) || "a branch",
        numbered(number) && `(pull request ${numbered(number)})`,
      ),
      detail: words(head, plain(at(it, "actor.login"), 60) && `by ${plain(at(it, "actor.login"), 60)}`),
      about: number ?? at(it, "head_branch"),
    };
  };

const status = ({ see }: Delivery): Story | null => {
  if (!failed(see("state"))) return nothing("successful checks are not reported");
  const name = link(plain(see("context")) || "a check", see("target_url") ?? see("commit.html_url"));
  const head = words(short(see("sha")), plain(word(see("commit.commit.message")).split("\n")[0]));
  return {
    by: `${name} failed`,
    line: words("on", code(see("branches.0.name"))),
    detail: head,
    body: quoted(see("description")),
    about: see("branches.0.name"),
  };
};

const deploymentStatus = ({ see }: Delivery): Story | null => {
  const state = word(see("deployment_status.state"));
  if (state !== "success" && !failed(state)) return nothing("only the end is reported");
  const place = bold(see("deployment_status.environment") ?? see("deployment.environment")) || "an environment";
  const address = see("deployment_status.target_url") || see("deployment_status.log_url");
  const what = words(code(see("deployment.ref")), short(see("deployment.sha")));
  return {
    by: `deployment to ${place}`,
    line: words(link(state === "success" ? "succeeded" : ended(state), address), "with", what),
    body: quoted(see("deployment_status.description")),
    about: see("deployment.ref"),
  };
};

const alert = ({ see, action }: Delivery): Story => {
  const severity = see("alert.security_advisory.severity") ?? see("alert.rule.severity") ?? see("alert.severity");
  const name =
    see("alert.security_advisory.summary") ??
    see("alert.rule.description") ??
    see("alert.secret_type_display_name") ??
    see("alert.secret_type");
  const where =
    see("alert.dependency.package.name") ??
    see("alert.affected_package_name") ??
    see("alert.most_recent_instance.location.path");
  const what = link(
    plain(name) || plain(see("alert.external_identifier")) || "a finding",
    see("alert.html_url") ?? see("alert.external_reference"),
  );
  return {
    by: "security alert",
    line:
      `${words(past(action), plain(severity) && `(${plain(severity)})`)}: ` +
      `${words(what, code(where) && `in ${code(where)}`)}`,
    about: words("alert", word(see("alert.number"))),
  };
};

const member = (login: unknown) => plain(login) && `${plain(login)} in`;

/** Minor events, reported in one sentence each. */
const notes: Readonly<Record<string, (see: Delivery["see"], did: string) => string>> = {
  ping: (see) => words("connected this webhook.", plain(see("zen"))),
  create: (see) => words("created", plain(see("ref_type")), code(see("ref"))),
  delete: (see) => words("deleted", plain(see("ref_type")), code(see("ref"))),
  commit_comment: (see) =>
    words(
      "commented on",
      link(short(see("comment.commit_id")) || "a commit", see("comment.html_url")),
      code(see("comment.path")),
    ),
  discussion: (see, did) =>
    words(
      did,
      "discussion",
      titled(see("discussion")),
      plain(see("discussion.category.name")) && `in ${plain(see("discussion.category.name"))}`,
    ),
  discussion_comment: (see) =>
    words("commented on discussion", link(plain(see("discussion.title")) || "one", see("comment.html_url"))),
  milestone: (see, did) => words(did, "milestone", link(plain(see("milestone.title")), see("milestone.html_url"))),
  gollum: (see) => words("changed the wiki:", wiki(see("pages"))),
  member: (see, did) => words(did, "collaborator", plain(see("member.login"))),
  membership: (see, did) =>
    words(did, plain(see("member.login")), did === "removed" ? "from" : "to", "team", bold(see("team.name"))),
  organization: (see, did) =>
    words(
      did,
      member(see("membership.user.login") ?? see("user.login") ?? see("invitation.login")),
      "the organization",
    ),
  org_block: (see, did) => words(did, plain(see("blocked_user.login")), "for the organization"),
  team: (see, did) => words(did, "team", link(bold(see("team.name")), see("team.html_url"))),
  team_add: (see) => words("gave the repository to team", link(bold(see("team.name")), see("team.html_url"))),
  public: () => "made the repository public",
  repository: (see, did) =>
    words(
      did,
      "the repository",
      plain(see("changes.repository.name.from")) && `(it was ${plain(see("changes.repository.name.from"))})`,
    ),
  repository_import: (see) => words("imported the repository:", plain(see("status"))),
  branch_protection_rule: (see, did) => words(did, "the protection of", code(see("rule.name"))),
  deploy_key: (see, did) =>
    words(did, see("key.read_only") === false ? "deploy key with write access" : "deploy key", bold(see("key.title"))),
  deployment_review: (see, did) =>
    words(
      did,
      "a review of the deployment to",
      bold(see("environment")),
      "by",
      link(plain(see("workflow_run.name")) || "a run", see("workflow_run.html_url")),
    ),
  page_build: (see) => words("built the pages:", plain(see("build.status")), plain(see("build.error.message"))),
  package: (see, did) =>
    words(
      did,
      "package",
      link(words(bold(see("package.name")), plain(see("package.package_version.version"))), see("package.html_url")),
    ),
  installation: (see, did) =>
    words(
      { created: "installed", deleted: "uninstalled" }[did] ?? did,
      "the app",
      bold(see("installation.app_slug")),
      "at",
      plain(see("installation.account.login")),
    ),
  installation_repositories: (see, did) => words(did, "repositories of the app", bold(see("installation.app_slug"))),
  github_app_authorization: (_see, did) => words(did, "the authorization of the app"),
  marketplace_purchase: (see, did) =>
    words(
      did,
      "plan",
      bold(see("marketplace_purchase.plan.name")),
      "of",
      plain(see("marketplace_purchase.account.login")),
    ),
  sponsorship: (see, did) =>
    words(
      did,
      "sponsorship of",
      `${plain(see("sponsorship.sponsorable.login"))}:`,
      plain(see("sponsorship.tier.name")),
    ),
  meta: (_see, did) => words(did, "this webhook"),
};

const wiki = (pages: unknown) =>
  list(pages)
    .slice(0, 5)
    .map((page) => link(plain(at(page, "title")) || "a page", at(page, "html_url")))
    .join(", ");

const note = ({ event, action, see, isBot }: Delivery): Story | null => {
  if (event === "create" && word(see("ref_type")) === "tag") return nothing("the push event reports it");
  if (event === "delete" && isBot) return nothing("cleanup by a bot");
  if (event.endsWith("_comment") && isBot) return nothing("remarks of bots are on the page");
  if (event === "page_build" && word(see("build.status")) === "built")
    return nothing("successful builds are not reported");
  const did = past(action);
  const sentence = Object.hasOwn(notes, event) ? notes[event]?.(see, did) : undefined;
  return {
    line: sentence ?? words(`sent the event ${code(event)}`, code(action)),
    body: quoted(see("comment.body") ?? (action === "created" ? see("discussion.body") : "")),
    about: see("discussion.number") ?? see("ref"),
  };
};

const stories = new Map<string, (delivery: Delivery) => Story | null>(
  Object.entries({
    push,
    pull_request: pullRequest,
    issues: issue,
    issue_comment: issueComment,
    pull_request_review: review,
    pull_request_review_comment: reviewComment,
    release,
    workflow_run: build("workflow_run"),
    check_suite: build("check_suite"),
    status,
    deployment_status: deploymentStatus,
    dependabot_alert: alert,
    code_scanning_alert: alert,
    secret_scanning_alert: alert,
    repository_vulnerability_alert: alert,
  }),
);

const whyQuiet = (event: string, action: string) =>
  quiet.find(([, ...events]) =>
    events.some((entry) => {
      const [name, ...actions] = entry.split(" ");
      return name === event && (actions.length === 0 || actions.includes(action));
    }),
  )?.[0];

/**
 * With the content type `application/x-www-form-urlencoded` (and `body: "form"` in the mapping), the payload is a
 * single field.
 */
const unfolded = (payload: unknown): unknown => {
  const field = at(payload, "payload");
  try {
    return typeof field === "string" ? JSON.parse(field) : payload;
  } catch {
    return payload;
  }
};

export default function github(context: Context): MessageFields | null | undefined {
  // Gitea, Forgejo and Gogs send GitHub's events, not always under its name.
  const header = ["github", "gitea", "forgejo", "gogs"]
    .map((name) => word(context.headers[`x-${name}-event`]))
    .find((name) => name !== "");
  const event = cut(header ?? "", 60);
  const payload = unfolded(context.payload);
  // Not from GitHub, so the mapping's own template applies.
  if (event === "" || typeof payload !== "object" || payload === null) return undefined;
  const see = (path: string) => at(payload, path);
  const action = word(see("action"));
  const reason = whyQuiet(event, action);
  if (reason !== undefined) return nothing(reason);
  const isBot = word(see("sender.type")) === "Bot" || /\[bot\]$/.test(word(see("sender.login")));
  const story = (stories.get(event) ?? note)({ event, action, see, isBot });
  if (story === null) return null;
  const place = word(see("repository.full_name")) || word(see("organization.login"));
  const names = ["sender.login", "sender.username", "pusher.login", "pusher.username", "pusher.name"];
  const who = story.by ?? (names.map((path) => plain(see(path), 60)).find((name) => name !== "") || "someone");
  return say({
    about: ["github", place, story.about],
    blocks: [
      [`${bold(place) || "**GitHub**"}: ${words(who, story.line)}`, story.detail ?? ""]
        .filter((line) => line !== "")
        .join("\n"),
      story.body ?? "",
    ],
  });
}
