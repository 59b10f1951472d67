/**
 * A plain web form: its fields as lines, with `_subject` or the form's own name as the title.
 *
 * `match: { path: "contact" }`, `body: "form"` (or JSON). A browser cannot send the hook token and must not know it, so
 * let your site's server post the form. Anyone can submit the form, so each submission has its own session. If a trap
 * field is filled in, or nothing is, the delivery is accepted and ignored.
 */
import { at, bold, type Context, type MessageFields, nothing, plain, quote, say, word } from "./message.ts";

/** Fields that are invisible to people and that spam programs fill in. */
const traps = new Set([
  "_gotcha",
  "_honeypot",
  "_honey",
  "honeypot",
  "bot-field",
  "bot_field",
  "hp_field",
  "leave_this_empty",
]);

/**
 * Technical fields of the page or of spam protection, not filled in by people. All fields that begin with an underscore
 * are technical, too.
 */
const technical =
  /^(?:_.*|form[-_]name|csrf.*|.*csrf[-_]?token|authenticity_token|g-recaptcha-response|h-captcha-response|cf-turnstile-response|utf8|submit)$/i;

/** Secrets do not belong in a chat. */
const secret = /passw|secret(?!ar)|card[-_ ]?(?:number|no)|cvv|cvc|\biban\b|api[-_ ]?key|token/i;

const mostFields = 30;

/** Longer texts, and texts with several lines, are quoted below their name. */
const longText = 160;

/** Of a file, its name. */
const text = (value: unknown) => word(at(value, "name")) || word(value);

const shown = (value: unknown): string =>
  Array.isArray(value)
    ? value
        .map(text)
        .filter((part) => part !== "")
        .join(", ")
    : typeof value === "boolean"
      ? value
        ? "yes"
        : "no"
      : text(value);

const label = (name: string) => {
  const spaced = name.replace(/[_-]+|(?<=[a-z])(?=[A-Z])/g, " ").trim();
  return bold(spaced.charAt(0).toUpperCase() + spaced.slice(1), 60) || "**Field**";
};

function line([name, text]: readonly [name: string, text: string]): string {
  if (secret.test(name)) return `${label(name)}: (not shown)`;
  if (text.length <= longText && !/[\r\n]/.test(text)) return `${label(name)}: ${plain(text, longText)}`;
  return `${label(name)}:\n${quote(text, { max: 1_200, lines: 20 })}`;
}

export default function form({ payload, path }: Context): MessageFields | null | undefined {
  // No fields, so the mapping's own template applies.
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return undefined;
  const fields = Object.entries(payload)
    .map(([name, value]) => [name.slice(0, 100), shown(value).slice(0, 10_000)] as const)
    .filter(([, text]) => text !== "");
  if (fields.some(([name]) => traps.has(name.toLowerCase()))) return nothing("a trap field was filled in");
  const written = fields.filter(([name]) => !technical.test(name));
  if (written.length === 0) return nothing("nothing was filled in");
  const given = (name: string) => fields.find(([field]) => field === name)?.[1] ?? "";
  const title = given("_subject") || given("form-name") || given("form_name");
  const lines = written.slice(0, mostFields).map(line);
  const more = written.length - mostFields;
  return say({
    blocks: [
      `${bold(title, 120) || "**Form**"}${title === "" && path !== "" ? ` ${plain(path, 60)}` : ""}`,
      lines
        .filter((made) => !made.includes("\n"))
        .map((made) => `- ${made}`)
        .join("\n"),
      ...lines.filter((made) => made.includes("\n")),
      more > 0 ? `And ${more} more ${more === 1 ? "field" : "fields"}.` : "",
    ],
  });
}
