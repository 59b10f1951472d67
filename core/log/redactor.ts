/** Secrets are removed from texts by their values: from log lines, stored deliveries and recordings. */

/** A shorter secret would be found inside ordinary words. */
export const shortestInside = 6;

const alphanumeric = /[\p{L}\p{N}]/u;

/**
 * The forms in which a secret may appear in a text: as it is, escaped in JSON, with the slashes escaped as some writers of JSON do, or in
 * an address.
 */
function formsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, escaped.replaceAll("/", "\\/"), encodeURIComponent(secret.toWellFormed())];
}

/**
 * Removes each secret; a short one only where it stands as a whole word, so that a weak secret does not shred every text.
 * A text without a secret is returned as it is. `secrets` is read for each text, so that a new one takes effect at once.
 */
export function createRedactor(secrets: () => Iterable<string>, mark = "[secret]"): (text: string) => string {
  let known: ReadonlySet<string> = new Set();
  /** The longest first: a secret that is the beginning of another one would leave its end behind. */
  let forms: readonly string[] = [];
  const learn = (): void => {
    known = new Set(secrets());
    forms = [...new Set([...known].flatMap(formsOf))].filter((form) => form !== "").toSorted((a, b) => b.length - a.length);
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
    return redacted;
  };
}

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
