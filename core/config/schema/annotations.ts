import Type from "typebox";

/** Our own schema keywords. The loader uses them; they are not part of the JSON Schema for editors. */
export interface Annotations {
  /** The value is a secret: `config get` shows `(set)`, and problems never quote it. */
  readonly secret?: true;
  /** The value is the path of a file: a relative one begins at the directory of the configuration. */
  readonly file?: true;
  /**
   * Whether the connection is encrypted: `false` is refused for an account that has a secret and whose `server` is
   * another machine.
   */
  readonly protectsSecrets?: true;
  /** Replaces an invalid value where `default` would allow more than was intended. */
  readonly fallback?: unknown;
  /**
   * Describes the allowed values in words where errors would otherwise quote the pattern, such as `a time such as 30m`.
   */
  readonly expects?: string;
  /** `/config` in a chat may write this key and everything below it. Absent means that it may not. */
  readonly chatWritable?: true;
  /**
   * The keys of this object decide who gets in: a chat may change marked keys of an existing entry, never add or remove
   * an entry.
   */
  readonly entriesAdmit?: true;
  /** One invalid key invalidates the whole object, because part of it would mean something else. */
  readonly whole?: true;
  /** Plugins add keys to this object, so an unknown key may be that of a plugin that is missing. */
  readonly isExtended?: true;
  /** Keys that other programs use for the same thing, and what they are called here. */
  readonly synonyms?: Readonly<Record<string, string>>;
}

/**
 * Marks a key that `/config` may write from a chat. Use it for texts, tone and layout, never for permissions, addresses
 * or secrets.
 */
export const chatWritable = { chatWritable: true } as const;

/** Adds our annotations to JSON Schema options. */
export const annotate = <O extends object>(annotations: Annotations, options: O): O => ({ ...options, ...annotations });

const secretForms = [
  Type.String({ minLength: 1 }),
  Type.Object(
    { env: Type.String({ minLength: 1, description: "Name of an environment variable." }) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      file: Type.String({ minLength: 1, description: "Path of a file; relative paths begin at the config directory." }),
    },
    { additionalProperties: false },
  ),
] as const;

/** The schema of a secret: the text itself, or where to read it. */
export const secretSchema = (description: string) =>
  Type.Union(
    [...secretForms],
    annotate({ secret: true, expects: 'a text, { "env": "NAME" } or { "file": "path" }' }, { description }),
  );

/** The schema of a replaced token, which stays valid for a time for senders that still use it. */
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

/** The schema of one secret or a list of them. While secrets are being rotated, the old one stays valid. */
export const secretsSchema = (description: string) =>
  Type.Union(
    [...secretForms, Type.Array(Type.Union([...secretForms]), { minItems: 1, maxItems: 8 })],
    annotate(
      { secret: true, expects: 'a text, { "env": "NAME" }, { "file": "path" }, or a list of 1 to 8 of these' },
      { description },
    ),
  );
