import { describe, expect, test } from "vitest";
import { wholeSchema } from "../../../core/config/plugin-schemas.ts";
import { type KnownSecrets, maskText, unmaskText } from "../../../core/config/showing/masked-text.ts";
import { createRedactor } from "../../../core/log/redactor.ts";

function known(...values: readonly string[]): KnownSecrets {
  return { schema: wholeSchema(), values, redact: createRedactor(() => values) };
}

const file = `{
  // "token": "an old one", and \${NOT_A_SECRET}
  "gateway": { "auth": { "token": "\${GATEWAY_TOKEN}" }, "publicUrl": "https://ada:pass@example.org/" },
  "hooks": { "token": { "file": "hook.token" }, "mappings": [{ "token": ["first-one", "second-one"] }] },
  "channels": { "desk": { "botToken": "1:a\\"b", "password": 1234, "name": "the desk" } },
}
`;

describe("the text of a configuration without its secrets", () => {
  test("secrets are placeholders; references, names and comments stay", () => {
    const { text } = maskText(file, known());
    expect(text).toBe(`{
  // "token": "(hidden secret 1)", and \${NOT_A_SECRET}
  "gateway": { "auth": { "token": "\${GATEWAY_TOKEN}" }, "publicUrl": "(hidden secret 2)" },
  "hooks": { "token": { "file": "hook.token" }, "mappings": [{ "token": ["(hidden secret 3)", "(hidden secret 4)"] }] },
  "channels": { "desk": { "botToken": "(hidden secret 5)", "password": "(hidden secret 6)", "name": "the desk" } },
}
`);
  });

  test.each<[string, string, KnownSecrets]>([
    ["of many secrets", file, known()],
    [
      "with a value that is known",
      '{ "agents": { "defaults": { "instructions": "say abcdef-key twice: abcdef-key" } } }',
      known("abcdef-key"),
    ],
    [
      "with a short secret inside of a sentence",
      '{ "log": { "level": "info" }, // ask for 1a2b\n "budget": {} }',
      known("1a2b"),
    ],
    ["with a secret in another spelling", '{ "x": "https://example.org/?q=a%20b%2Fc-secret" }', known("a b/c-secret")],
    ["with a placeholder's words", '{ "a": "(hidden secret 1)", "hooks": { "token": "really-secret" } }', known()],
    ["that is damaged", '{ "hooks": { "token": "unclosed }\n "password": "behind-the-error" }', known()],
    ["that is empty", "", known()],
  ])("a text %s comes back byte for byte, and what is shown contains no secret", (_, text, secrets) => {
    const masked = maskText(text, secrets);
    expect(secrets.redact(masked.text)).toBe(masked.text);
    expect(unmaskText(masked.text, masked, secrets)).toBe(text);
    for (const { written } of masked.secrets) expect(masked.text).not.toContain(written);
  });

  test("a secret may be removed, and its place in the file moved", () => {
    const masked = maskText('{ "hooks": { "enabled": true, "token": "really-secret" } }', known());
    expect(unmaskText('{ "hooks": {} }', masked, known())).toBe('{ "hooks": {} }');
    expect(unmaskText('{ "hooks": { "token": "(hidden secret 1)", "enabled": true } }', masked, known())).toBe(
      '{ "hooks": { "token": "really-secret", "enabled": true } }',
    );
  });

  test.each([
    ["where it would be shown", '{ "log": { "level": "(hidden secret 1)" } }'],
    ["inside of a text", '{ "hooks": { "path": "/(hidden secret 1)" } }'],
    ["in a comment", '{ "hooks": {} } // "(hidden secret 1)"'],
    ["twice", '{ "hooks": { "token": "(hidden secret 1)", "password": "(hidden secret 1)" } }'],
    ["that is unknown", '{ "hooks": { "token": "(hidden secret 2)" } }'],
  ])("a placeholder %s is refused", (_, edited) => {
    const masked = maskText('{ "hooks": { "token": "really-secret" } }', known());
    expect(() => unmaskText(edited, masked, known())).toThrow("a placeholder stands for one secret");
  });
});
