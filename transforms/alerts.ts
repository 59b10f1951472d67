/**
 * Alerts of Grafana and Prometheus' Alertmanager, whose webhooks have the same format: groups of firing or resolved
 * alerts.
 *
 * `match: { path: "alerts" }`, with the hook token (Alertmanager: `http_config.authorization`; Grafana: the contact
 * point's authorization header). Each group has its own session: `hook:alerts:<receiver>:<labels of the group>`.
 */
import {
  at,
  bold,
  type Context,
  code,
  count,
  items,
  link,
  list,
  type MessageFields,
  maybeLink,
  plain,
  quote,
  say,
  word,
  words,
} from "./message.ts";

/** Alerts shown in full; the others are only counted. */
const mostAlerts = 8;

/** Labels that only repeat the severity or the alert's name. */
const known = new Set([
  "alertname",
  "severity",
  "grafana_folder",
  "__alert_rule_uid__",
  "__alert_rule_namespace_uid__",
  "prometheus",
  "job",
]);

const urgency = ["critical", "page", "error", "high", "warning", "medium", "info", "low"];
const severity = (alert: unknown) => word(at(alert, "labels.severity")).toLowerCase();
const rank = (alert: unknown) => (urgency.indexOf(severity(alert)) + urgency.length + 1) % (urgency.length + 1);
const entries = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

const labels = (value: unknown, most: number) =>
  entries(value)
    .filter(([name, content]) => !known.has(name) && word(content) !== "")
    .slice(0, most)
    .map(([name, content]) => code(`${name}=${word(content)}`, 80))
    .join(" ");

/**
 * A duration such as `12m` or `3h 5m`; empty if one of the times is invalid. Ongoing alerts have the year 1 as their
 * end.
 */
function lasted(from: unknown, until: unknown): string {
  const minutes = Math.round((Date.parse(word(until)) - Date.parse(word(from))) / 60_000);
  if (!Number.isFinite(minutes) || minutes < 0) return "";
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  return days > 0
    ? words(`${days}d`, hours > 0 ? `${hours}h` : "")
    : words(hours > 0 ? `${hours}h` : "", `${minutes % 60}m`);
}

const numbers = (values: unknown) =>
  entries(values)
    .filter(([, value]) => typeof value === "number")
    .slice(0, 4)
    .map(([name, value]) => code(`${name}=${Number(Number(value).toPrecision(5))}`, 40))
    .join(" ");

function alertText(alert: unknown, now: string, overview: unknown = ""): string {
  const resolved = at(alert, "status") === "resolved";
  const name = bold(at(alert, "labels.alertname"), 100) || "an alert";
  const summary = plain(
    word(at(alert, "annotations.summary")) ||
      word(at(alert, "annotations.message")) ||
      at(alert, "annotations.description"),
    240,
  );
  const span = lasted(at(alert, "startsAt"), resolved ? at(alert, "endsAt") : now);
  const links = [
    maybeLink("source", at(alert, "generatorURL")),
    maybeLink("panel", word(at(alert, "panelURL")) || at(alert, "dashboardURL")),
    maybeLink("runbook", at(alert, "annotations.runbook_url")),
    resolved ? "" : maybeLink("silence", at(alert, "silenceURL")),
    maybeLink("all alerts", overview),
  ].filter((made) => made !== "");
  return words(
    `${resolved ? "✅" : "🔥"} ` +
      `${words(name, plain(severity(alert), 20) && `(${plain(severity(alert), 20)})`)}${summary && `: ${summary}`}`,
    labels(at(alert, "labels"), 6),
    resolved ? "" : numbers(at(alert, "values")),
    span && (resolved ? `after ${span}` : `for ${span}`),
    links.length > 0 ? `(${links.join(", ")})` : "",
  );
}

/**
 * What has a title and no list of alerts: Grafana before version 9, or a test. Without a title, the mapping's own
 * template applies.
 */
function single(payload: unknown): MessageFields | undefined {
  const name = bold(at(payload, "title")) || bold(at(payload, "ruleName"));
  if (name === "") return undefined;
  const state = word(at(payload, "state")) || word(at(payload, "status"));
  const sign = /^(?:ok|resolved|normal)$/i.test(state) ? "✅" : "🔥";
  const text = words(sign, link(name, at(payload, "ruleUrl")), plain(state, 20) && `(${plain(state, 20)})`);
  return say({
    about: ["alerts", at(payload, "ruleName") ?? at(payload, "title")],
    blocks: [text, quote(at(payload, "message"), { max: 400, lines: 5 })],
  });
}

export default function alerts({ payload, now }: Context): MessageFields | undefined {
  const all = list(at(payload, "alerts"));
  if (all.length === 0) return single(payload);
  const isResolved = (alert: unknown) => at(alert, "status") === "resolved";
  const firing = all.filter((alert) => !isResolved(alert)).sort((one, other) => rank(one) - rank(other));
  const resolved = all.filter(isResolved);
  const missing = Number(at(payload, "truncatedAlerts")) || 0;
  const counts = [
    firing.length > 0 ? `${firing.length} firing` : "",
    resolved.length > 0 ? `${resolved.length} resolved` : "",
  ];
  const group = words(
    bold(at(payload, "groupLabels.alertname") ?? at(payload, "commonLabels.alertname")),
    labels(at(payload, "groupLabels"), 4),
  );
  const address = word(at(payload, "externalURL"));
  const shown = [...firing, ...resolved].slice(0, mostAlerts);
  const values = entries(at(payload, "groupLabels")).map(([, value]) => word(value));
  const about = ["alerts", at(payload, "receiver"), words(...values) || at(payload, "commonLabels.alertname")];
  const total = all.length + missing;
  // A single alert is shown without a group.
  if (total === 1) return say({ about, blocks: [alertText(shown[0], now, address)] });
  return say({
    about,
    blocks: [
      `${firing.length > 0 ? "🔥" : "✅"} ${link(count(total, "alert"), address)}: ` +
        `${words(counts.filter((part) => part !== "").join(", "), group && `of ${group}`)}`,
      items(
        shown.map((alert) => alertText(alert, now)),
        { max: mostAlerts, total },
      ),
      firing.length > 0 ? quote(at(payload, "commonAnnotations.description"), { max: 400, lines: 5 }) : "",
    ],
  });
}
