/**
 * Outages and recoveries, from Uptime Kuma and from any sender of a name and a state, such as Healthchecks.
 *
 * `match: { path: "uptime" }`, with the hook token as a header of the request. Uptime Kuma: a notification of the type
 * webhook, JSON. Healthchecks: POST with the body `{ "name": "$NAME", "status": "$STATUS", "tags": "$TAGS", "message":
 * "$EXITSTATUS" }`.
 */
import {
  at,
  bold,
  type Context,
  code,
  link,
  type MessageFields,
  nothing,
  plain,
  quote,
  say,
  word,
  words,
} from "./message.ts";

/** The numbers are Uptime Kuma's. */
const states = new Map([
  ["0", "down"],
  ["1", "up"],
  ["2", "pending"],
  ["3", "in maintenance"],
  ["ok", "up"],
  ["success", "up"],
  ["recovered", "up"],
  ["fail", "down"],
  ["failed", "down"],
  ["error", "down"],
]);
const signs: Readonly<Record<string, string>> = { down: "🔴", up: "🟢", "in maintenance": "🔧" };

/** The address of a monitor may contain a password. */
const withoutPassword = (address: string) => address.replace(/^(https?:\/\/)[^/@\s]*@/i, "$1");

interface Report {
  readonly name: unknown;
  readonly state: string;
  readonly address: string;
  readonly reason: unknown;
  readonly details: readonly string[];
}

function fromKuma(payload: unknown): Report {
  const ping = at(payload, "heartbeat.ping");
  return {
    name: at(payload, "monitor.name"),
    state: word(at(payload, "heartbeat.status")),
    address: word(at(payload, "monitor.url")) || word(at(payload, "monitor.hostname")),
    reason: at(payload, "heartbeat.msg"),
    details: [
      typeof ping === "number" ? `${Math.round(ping)} ms` : "",
      code(at(payload, "heartbeat.localDateTime") ?? at(payload, "heartbeat.time"), 40),
    ],
  };
}

function fromAnybody(payload: unknown): Report {
  const first = (...names: readonly string[]) =>
    names.map((name) => at(payload, name)).find((value) => word(value) !== "");
  return {
    name: first("name", "check", "monitor", "service", "title"),
    state: word(first("status", "state")),
    address: word(first("url", "link")),
    reason: first("message", "msg", "reason", "error"),
    details: [plain(first("tags"), 100)],
  };
}

export default function uptime({ payload }: Context): MessageFields | null | undefined {
  const isKuma = at(payload, "heartbeat") !== undefined && at(payload, "monitor") !== undefined;
  const heartbeat = at(payload, "heartbeat");
  // A test notification or an expiring certificate consists of a single sentence.
  if (isKuma && (typeof heartbeat !== "object" || heartbeat === null)) {
    const sentence = quote(at(payload, "msg"));
    return sentence === "" ? undefined : say({ about: ["uptime"], blocks: ["**Uptime**", sentence] });
  }
  const { name, state, address, reason, details } = isKuma ? fromKuma(payload) : fromAnybody(payload);
  // There is no name or no state, so what is there is shown as it is. Without a text, the mapping's own template
  // applies.
  if (state === "" || word(name) === "") {
    const blocks = [words("**Uptime**", bold(name), plain(state, 40)), quote(word(reason) || at(payload, "text"))];
    return blocks[1] === "" && word(name) === "" ? undefined : say({ about: ["uptime", name], blocks });
  }
  const shown = states.get(state.toLowerCase()) ?? state.toLowerCase().replaceAll("_", " ");
  if (shown === "pending" || shown === "new" || shown === "grace") return nothing("not down yet");
  const sign = Object.hasOwn(signs, shown) ? signs[shown] : "⚠️";
  const why = plain(reason, 240);
  return say({
    about: ["uptime", name],
    blocks: [
      [
        words(`${sign}`, link(bold(name), withoutPassword(address)), `is ${plain(shown, 40)}${why && `: ${why}`}`),
        details.filter((detail) => detail !== "").join(", "),
      ]
        .filter((line) => line !== "")
        .join("\n"),
    ],
  });
}
