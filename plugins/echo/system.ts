/** Answers to events that no person wrote. */

const maxEventChars = 500;

/** Removes the wrapper and the facts that the gateway adds to external content; other text is unchanged. */
function unwrapExternal(text: string): string {
  const [, inside] = /^<<<external-content (?:\S+)>>>\n(.*)\n<<<end-external-content \S+>>>$/ms.exec(text) ?? [];
  if (inside === undefined) return text.trim();
  const rule = inside.indexOf("\n---\n");
  return (rule < 0 ? inside : inside.slice(rule + 5)).trim();
}

function oneLine(text: string): string {
  const characters = [...text.replace(/\s+/g, " ").trim()];
  return characters.length > maxEventChars
    ? `${characters.slice(0, maxEventChars - 1).join("")}…`
    : characters.join("");
}

/** The summary of a successful hook run, whose reply has already been sent. */
const summary = /^Hook [^:]{1,200}: /;

/** Names the events of a heartbeat, or acknowledges it if there is nothing to report. */
export function renderHeartbeat(all: readonly string[]): string {
  const events = all.filter((event) => !summary.test(event) || /^Hook [^:]*\([^()]*\): /.test(event));
  if (events.length === 0) return "HEARTBEAT_OK";
  if (events.length === 1) return `Something happened: ${oneLine(events[0] ?? "")}`;
  return `${events.length} things happened:\n\n${events.map((event) => `- ${oneLine(event)}`).join("\n")}`;
}

export function renderHook(text: string): string {
  return unwrapExternal(text);
}
