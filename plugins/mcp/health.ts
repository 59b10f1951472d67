/** The state of the servers for `service status`, and the check for `service doctor`. */
import type { PluginHost } from "service-gateway/sdk";
import type { Doubt } from "./fingerprints.ts";
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
  return {
    source: "mcp",
    account: name,
    state: states[state],
    reason: isWell ? "" : sentence(reason),
    fix: isWell ? "" : sentence(fix),
  };
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
  const doubted = (kind: Doubt) => tools.filter(({ doubt }) => doubt === kind).map((tool) => tool.name);
  const look = `Look at them with mcp tools ${name}, which names the command that accepts them, or remove the server.`;
  const doubts = [
    [doubted("changed"), "has changed tools since they were accepted", look],
    [doubted("new"), "has new tools, which were not accepted", look],
    [
      doubted("unknown"),
      "has tools of which it is not known whether they were accepted",
      "Check that the state directory can be read and written, then restart the gateway.",
    ],
  ] as const;
  return [
    ...(tools.length === 0
      ? [{ verdict: "warn" as const, reason: `${name} has no tools.`, fix: "Check its arguments." }]
      : []),
    ...(tools.length > 0 && !tools.some(({ offered }) => offered)
      ? [
          {
            verdict: "warn" as const,
            reason: `${path}.tools leaves out every tool of ${name}.`,
            fix: "Correct allow and deny.",
          },
        ]
      : []),
    ...doubts.flatMap(([names, what, fix]) => {
      const some = `${names.slice(0, 5).join(", ")}${names.length > 5 ? " and others" : ""}`;
      return names.length === 0 ? [] : [{ verdict: "warn" as const, reason: `${name} ${what}: ${some}.`, fix }];
    }),
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
    return {
      verdict: "ok",
      reason: `${views.length === 1 ? "One server is" : `${views.length} servers are`} up, with ${tools} tools.`,
    };
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
