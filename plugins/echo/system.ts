/** Answers to what no person wrote. */

const maxEventChars = 500;

/** What came from outside, without the marks and the facts that the gateway put around it; other text as it is. */
function unwrapExternal(text: string): string {
  const [, inside] = /^<<<external-content (?:\S+)>>>\n(.*)\n<<<end-external-content \S+>>>$/ms.exec(text) ?? [];
  if (inside === undefined) return text.trim();
  const rule = inside.indexOf("\n---\n");
  return (rule < 0 ? inside : inside.slice(rule + 5)).trim();
}

function oneLine(text: string): string {
  const characters = [...text.replace(/\s+/g, " ").trim()];
  return characters.length > maxEventChars ? `${characters.slice(0, maxEventChars - 1).join("")}…` : characters.join("");
}

/** The summary that a hook run leaves when it went well: what it said was sent already. */
const summary = /^Hook [^:]{1,200}: /;

/** Names the events of a heartbeat, or acknowledges that there is nothing to say. */
export function renderHeartbeat(all: readonly string[]): string {
  const events = all.filter((event) => !summary.test(event) || /^Hook [^:]*\([^()]*\): /.test(event));
  if (events.length === 0) return "HEARTBEAT_OK";
  if (events.length === 1) return `Something happened: ${oneLine(events[0] ?? "")}`;
  return `${events.length} things happened:\n\n${events.map((event) => `- ${oneLine(event)}`).join("\n")}`;
}

export function renderHook(text: string): string {
  return unwrapExternal(text);
}
