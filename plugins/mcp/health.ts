/** The state of the servers for `service status`, and the check for `service doctor`. */
import type { PluginHost } from "service-gateway/sdk";
import type { ServerView } from "./view.ts";

export type Watched = ReturnType<Parameters<PluginHost["status"]>[0]>[number];
export type Verdict = Awaited<ReturnType<Parameters<PluginHost["check"]>[0]["explain"]>>;

const states = {
  starting: "ok",
  ready: "ok",
  closed: "ok",
  waiting: "retrying",
  down: "paused",
  misconfigured: "needs_setup",
} as const satisfies Readonly<Record<ServerView["state"], Watched["state"]>>;

const sentence = (text: string): string => (text === "" || /[.!?]$/.test(text) ? text : `${text}.`);

export function statusOf({ name, state, reason, fix }: ServerView): Watched {
  const isWell = states[state] === "ok";
  return { source: "mcp", account: name, state: states[state], reason: isWell ? "" : sentence(reason), fix: isWell ? "" : sentence(fix) };
}

interface Finding {
  readonly verdict: Verdict["verdict"];
  readonly reason: string;
  readonly fix: string;
}

function findingsOf(view: ServerView): readonly Finding[] {
  const { name, path, state, reason, fix, required, tools, noise } = view;
  if (state === "waiting" || state === "down" || state === "misconfigured") {
    const what = state === "down" ? "is given up" : state === "waiting" ? "is not available" : "cannot be started";
    const then = state === "down" ? `${sentence(fix)} Then: mcp restart ${name}` : fix;
    return [
      {
        verdict: required || state !== "waiting" ? "fail" : "warn",
        reason: sentence(`${name} ${what}: ${reason}`),
        fix: sentence(then.trim()),
      },
    ];
  }
  if (state !== "ready") return [];
  const changed = tools.filter((tool) => tool.changed).map((tool) => tool.name);
  return [
    ...(tools.length === 0 ? [{ verdict: "warn" as const, reason: `${name} has no tools.`, fix: "Check its arguments." }] : []),
    ...(tools.length > 0 && !tools.some(({ offered }) => offered)
      ? [{ verdict: "warn" as const, reason: `${path}.tools leaves out every tool of ${name}.`, fix: "Correct allow and deny." }]
      : []),
    ...(changed.length > 0
      ? [
          {
            verdict: "warn" as const,
            reason: `${name} has changed tools since they were accepted: ${changed.slice(0, 5).join(", ")}${changed.length > 5 ? " and others" : ""}.`,
            fix: `Look at them with mcp tools ${name}, then run mcp accept ${name}, or remove the server.`,
          },
        ]
      : []),
    ...(noise > 0
      ? [
          {
            verdict: "warn" as const,
            reason: `${name} has written ${noise} lines to standard output that are not messages.`,
            fix: "They are ignored; the server should write them to standard error.",
          },
        ]
      : []),
  ];
}

/** The worst of all findings, with every reason. */
export function explainServers(views: readonly ServerView[]): Verdict {
  const findings = views.flatMap(findingsOf);
  if (findings.length === 0) {
    const tools = views.reduce((sum, view) => sum + view.tools.filter(({ offered }) => offered).length, 0);
    return { verdict: "ok", reason: `${views.length === 1 ? "One server is" : `${views.length} servers are`} up, with ${tools} tools.` };
  }
  return {
    verdict: findings.some(({ verdict }) => verdict === "fail") ? "fail" : "warn",
    reason: findings.map(({ reason }) => reason).join(" "),
    fix: findings
      .map(({ fix }) => fix)
      .filter((fix) => fix !== "")
      .join(" "),
  };
}
