/**
 * Commands on a platform whose clients take `/stop` for themselves: people type another prefix, and read it in the
 * texts of the gateway. Inside, a command always begins with `/`.
 */

/** The prefixes that a channel may have. */
export type CommandPrefix = "/" | "!";

/** A command at the beginning of a message, perhaps behind a name, as in `@name !stop`. */
const typed = /^(\s*(?:@(?:\w|\\_)+[,:]?\s+)?)!((?:[a-z0-9_]|\\_){1,64})(?=[@:\s]|$)/i;

/** A command in a text of the gateway. A path, such as `/help/more`, is none. */
const written = /(^|[\s`"'(])\/([a-z0-9_]{1,32})(?=$|[\s`"'),.:;!?])/g;

/** The message as the gateway reads it. Another word behind the prefix stays as it is. */
export function readCommandPrefix(text: string, prefix: CommandPrefix, isCommand: (name: string) => boolean): string {
  if (prefix === "/" || !text.includes(prefix)) return text;
  return text.replace(typed, (whole, before: string, name: string) =>
    isCommand(name.replaceAll("\\", "").toLowerCase()) ? `${before}/${name}` : whole,
  );
}

/** A text of the gateway, with each command as people type it there. */
export function writeCommandPrefix(text: string, prefix: CommandPrefix, isCommand: (name: string) => boolean): string {
  if (prefix === "/") return text;
  return text.replace(written, (whole, before: string, name: string) =>
    isCommand(name) ? `${before}${prefix}${name}` : whole,
  );
}
