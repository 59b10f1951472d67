/** Redacts secrets by value in log lines, stored deliveries and recordings. */
import { createSpellings } from "./spellings.ts";

/** Shorter secrets are only redacted as whole words, because they occur inside ordinary words. */
export const shortestInside = 6;

const alphanumeric = /[\p{L}\p{N}]/u;

/**
 * The forms in which a secret may appear: unchanged, JSON-escaped, JSON-escaped with escaped slashes, or URL-encoded.
 */
function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll("/", "\\/"), encodeURIComponent(secret.toWellFormed())];
}

/**
 * Creates a function that redacts each secret. Short secrets are only redacted as whole words, so that a weak secret
 * does not garble every text. A text without secrets is returned unchanged. `secrets` is read for each text, so that a
 * new secret is redacted at once.
 */
export function createRedactor(secrets: () => Iterable<string>, mark = "[secret]"): (text: string) => string {
  let known: ReadonlySet<string> = new Set();
  /**
   * The longest first, because otherwise a secret that is the beginning of another would leave the rest of it visible.
   */
  let forms: readonly string[] = [];
  let redactSpellings = (text: string): string => text;
  const learn = (): void => {
    known = new Set(secrets());
    forms = [...new Set([...known].flatMap(formsOf))].filter((form) => form !== "").toSorted(byLength);
    const long = [...known].filter((secret) => secret.length >= shortestInside);
    redactSpellings = createSpellings(long.toSorted(byLength), mark);
  };
  return (text) => {
    for (const secret of secrets()) {
      if (known.has(secret)) continue;
      learn();
      break;
    }
    let redacted = text;
    for (const form of forms) {
      if (!redacted.includes(form)) continue;
      redacted = form.length >= shortestInside ? redacted.replaceAll(form, mark) : replaceWords(redacted, form, mark);
    }
    // The usual forms are gone by now.
    return redactSpellings(redacted);
  };
}

const byLength = (a: string, b: string): number => b.length - a.length;

function replaceWords(line: string, word: string, mark: string): string {
  let result = "";
  let from = 0;
  for (let at = line.indexOf(word); at !== -1; at = line.indexOf(word, at + word.length)) {
    const whole = !alphanumeric.test(line[at - 1] ?? "") && !alphanumeric.test(line[at + word.length] ?? "");
    result += line.slice(from, at) + (whole ? mark : word);
    from = at + word.length;
  }
  return result + line.slice(from);
}
