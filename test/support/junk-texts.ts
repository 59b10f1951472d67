/** What is no message of a source: for tests, and for the programs that they start. */

/** Each can be cloned and written as JSON. */
export const junk: Readonly<Record<string, unknown>> = {
  null: null,
  "a number": 5,
  "a text": "text",
  "a boolean": true,
  "an empty object": {},
  "an empty list": [],
  "a list": [null, 1],
  "wrong types": {
    type: 5,
    id: "x",
    call: null,
    args: 7,
    ended: "x",
    free: 1,
    line: 3,
    error: 1,
    names: 1,
    inputs: {},
  },
  "a name of a prototype": { type: "__proto__", id: "constructor", call: "constructor" },
  "1 MB": "x".repeat(1_048_576),
  "1 MB in an object": { type: "x".repeat(1_048_576) },
};

/** Of sources of text or bytes: the same as JSON, and what is none. */
export const junkTexts: readonly string[] = [
  ...Object.values(junk).map((value) => JSON.stringify(value)),
  "",
  "{ not json",
  "\0\u{fffd}\u202e",
];

/** A burst of a source that does not stop. */
export const burst = 10_000;
