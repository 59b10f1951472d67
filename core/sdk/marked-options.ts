/** Options that the gateway reads for the channel: secrets and files. */
import { Type } from "./contract.ts";

/**
 * An option that contains a secret, anywhere in the options of a channel, also inside an object or a list. In the
 * configuration it is a text, `{ env }` or `{ file }`; `open` receives the text. It is never logged or shown. An option
 * of this kind need not be named in `secrets`.
 *
 * @example
 * const proxy = Type.Object({ url: Type.String(), password: secretText({ description: "Password of the proxy." }) });
 * const options = Type.Object({ proxy: Type.Optional(proxy) });
 */
export function secretText({ description }: { readonly description: string }) {
  return Type.String({ minLength: 1, description, secret: true });
}

/** A secret as the file of the configuration has it: the text itself, or where to read it. */
export type Secret = string | { readonly env: string } | { readonly file: string };

/**
 * A key of a section, or of the settings of a preset, that contains a secret. The plugin receives what the file has,
 * and reads the secret with `secret` of the section when it needs it. It is never logged or shown.
 *
 * @example
 * schema: Type.Object({ token: Type.Optional(secretReference({ description: "Token of the service." })) }),
 */
export function secretReference({ description }: { readonly description: string }) {
  return Type.Unsafe<Secret>(Type.String({ minLength: 1, description, secret: true }));
}

/**
 * An option that names a file. A relative path begins at the directory of the configuration, and `~/` is the home;
 * `open` receives the absolute path. The file need not exist.
 *
 * @example
 * options: Type.Object({ keyFile: filePath({ description: "File with the bot's key." }) }),
 */
export function filePath({ description }: { readonly description: string }) {
  return Type.String({ minLength: 1, description, file: true });
}
