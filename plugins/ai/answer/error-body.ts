/** Reads the bodies of errors, in which servers put the reason in many places. */

/**
 * Where servers put the reason, the usual place first. Google puts the error into a list; `detail` and `msg` are of
 * frameworks for Python.
 */
const reasonKeys = ["error", "message", "detail", "errors", "msg"] as const;

function messageIn(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth > 4) return "";
  const inner = Array.isArray(value)
    ? value.slice(0, 10)
    : reasonKeys.map((key) => (value as { readonly [key: string]: unknown })[key]);
  for (const one of inner) {
    const message = messageIn(one, depth + 1);
    if (message !== "") return message;
  }
  return "";
}

/** All texts of an error, one on a line; a list such as `["body", "tools", 3]` is one text, `body.tools.3`. */
function textsIn(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth > 6) return "";
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === "string" || typeof one === "number")
  )
    return value.join(".");
  return Object.values(value)
    .map((one) => textsIn(one, depth + 1))
    .filter((text) => text !== "")
    .join("\n");
}

/** Longer texts are cut: servers may repeat the whole request. */
const maxDetails = 65_536;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function detailsOf(body: unknown): { readonly details?: string } {
  if (body === undefined) return {};
  const value = typeof body === "string" ? (parsed(body) ?? body) : body;
  return { details: textsIn(value).slice(0, maxDetails) };
}

/** The message in an error body, such as `{ error: { message } }`, or the start of the text. */
export function bodyMessage(body = ""): string {
  const value = parsed(body);
  if (value !== undefined) return messageIn(value);
  return /^\s*</.test(body) ? "" : body;
}

/** The status in an error of a server that had begun its answer by then, as OpenRouter and LiteLLM send it. */
export function statusIn(answer: unknown): number | undefined {
  const value: unknown = typeof answer === "string" ? parsed(answer) : answer;
  const { error = value } = (value ?? {}) as { readonly error?: unknown };
  const { code, status } = (error ?? {}) as { readonly code?: unknown; readonly status?: unknown };
  return [code, status].map(Number).find((number) => Number.isInteger(number) && number >= 400 && number < 600);
}
