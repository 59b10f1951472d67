import Type from "typebox";

/**
 * Keywords of our own inside a schema. They are for the loader and are not printed for editors.
 */
export interface Annotations {
  /** A secret stands here: `config get` shows `(set)`, and no problem quotes the value. */
  readonly secret?: true;
  /** Used instead of `default` when the value is wrong, where the default would allow more than was meant. */
  readonly fallback?: unknown;
  /** What is allowed, for people, where the pattern alone does not say it: `a time such as 30m`. */
  readonly expects?: string;
  /** `/config` in a chat may write this key and what is below it. Absent means no. */
  readonly chatWritable?: true;
  /** The key is checked, and nothing uses it in this version: a file that sets it gets a warning. */
  readonly withoutEffect?: true;
  /** One wrong key costs the whole object, because half of it would mean something else. */
  readonly whole?: true;
}

/** In the options of a key that `/config` may write from a chat: texts, tones and layouts, never rights, addresses or secrets. */
export const chatWritable = { chatWritable: true } as const;

/** In the options of a key that nothing uses yet. */
export const withoutEffect = { withoutEffect: true } as const;

/** JSON Schema options with our annotations beside them. */
export const annotate = <O extends object>(annotations: Annotations, options: O): O => ({ ...options, ...annotations });

const secretForms = [
  Type.String({ minLength: 1 }),
  Type.Object({ env: Type.String({ minLength: 1, description: "Name of an environment variable." }) }, { additionalProperties: false }),
  Type.Object(
    { file: Type.String({ minLength: 1, description: "Path of a file; relative paths begin at the config directory." }) },
    { additionalProperties: false },
  ),
] as const;

/** A place where a secret stands: the text itself, or where to read it. */
export const secretSchema = (description: string) =>
  Type.Union([...secretForms], annotate({ secret: true, expects: 'a text, { "env": "NAME" } or { "file": "path" }' }, { description }));

/** What a token was before it was replaced: senders that have not learnt the new one yet are let in with it for a time. */
export const previousTokenSchema = (description: string) =>
  Type.Object(
    {
      token: secretSchema("The old token."),
      until: Type.String(
        annotate(
          { expects: "a time with its zone, such as 2026-12-31T18:00:00Z" },
          {
            pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2})$",
            description: "Time at which it stops being valid, with its zone, such as 2026-12-31T18:00:00Z.",
          },
        ),
      ),
    },
    { description, additionalProperties: false },
  );

/** The same, or a list of them: during a change of secrets the old one counts beside the new one. */
export const secretsSchema = (description: string) =>
  Type.Union(
    [...secretForms, Type.Array(Type.Union([...secretForms]), { minItems: 1, maxItems: 8 })],
    annotate({ secret: true, expects: 'a text, { "env": "NAME" }, { "file": "path" }, or a list of 1 to 8 of these' }, { description }),
  );
