/** A secret is removed in every spelling that a sender's library gives it, and nothing else is changed. */
import { expect, test } from "vitest";
import { createRedactor } from "../../../core/log/index.ts";

/** As `openssl rand -base64` makes them, a password with a blank, and one that escapes cannot leave as it is. */
const secrets = ["Gr+aph/secret&1==", "pa ss!wörd", 'a\\b\\\\c"d\ne😀', "plain-secret-1"];
const redact = createRedactor(() => secrets);

const escapedBy = (digits: (unit: string) => string) => (text: string) =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${digits(text.charCodeAt(at).toString(16).padStart(4, "0"))}`,
  ).join("");
const escaped = escapedBy((unit) => unit);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const form = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);

const spellings: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "JSON that escapes signs, as .NET writes it": (secret) => json(secret).replace(/[+&]/g, escaped),
  "JSON that escapes what is not ASCII, as Python and PHP write it": (secret) =>
    json(secret)
      .replaceAll("/", "\\/")
      .replace(/[^\x20-\x7e]/g, escaped),
  "JSON that escapes everything": escaped,
  "JSON that escapes everything, in capitals": escapedBy((unit) => unit.toUpperCase()),
  "JSON inside a text of JSON": (secret) => json(json(secret).replace(/[+&]/g, escaped)),
  "JSON inside a text of JSON, twice": (secret) => json(json(json(secret))),
  "a form": form,
  "a URL with digits in lower case": (secret) =>
    encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
  "JSON in a form": (secret) => form(json(secret).replace(/[+&]/g, escaped)),
};

test.each(Object.entries(spellings))("a secret in %s is redacted", (_, spell) => {
  for (const secret of secrets) {
    // Alone, a secret of ASCII needs no escapes of other characters to be read.
    const redactOne = createRedactor(() => [secret]);
    for (const one of [redact, redactOne]) expect(one(`x=${spell(secret)}&y`)).toBe("x=[secret]&y");
  }
});

test("text with escapes but without a secret is unchanged", () => {
  for (const text of [
    "100 % \\n a+b",
    "\\u0041\\\\u0041%41%",
    '{"a":"plain\\u002dsecret"}',
    "Gr aph/secret&1==",
    "%ff%fe\\ud800",
  ])
    expect(redact(text)).toBe(text);
});

test("the cost of text with only escapes grows linearly", () => {
  const started = process.cpuUsage();
  for (const text of ["\\", "%", "\\u0070", "%70", "+"]) redact(text.repeat(100_000 / text.length));
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(1_000);
});
