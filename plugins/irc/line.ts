/** Lines of the protocol: RFC 2812, with the message tags of IRCv3. */
export interface Line {
  readonly tags: Readonly<Record<string, string>>;
  /** Who sent it: a nick, or the name of the server. */
  readonly nick: string;
  /** Where they are, as `user@host`. */
  readonly place: string;
  readonly command: string;
  readonly params: readonly string[];
}

const shape = /^(?:@(\S+) +)?(?::([^\s!@\0]+)(?:[!@](\S*))? +)?(\S+)(?: +(.*))?$/s;

/** Total: a line that is none has an empty command. */
export function parseLine(text: string): Line {
  const [, tags = "", nick = "", place = "", command = "", rest = ""] = shape.exec(text) ?? [];
  // The last parameter may contain spaces: it begins with a colon.
  const colon = ` ${rest}`.indexOf(" :");
  const words = (colon < 0 ? rest : rest.slice(0, colon)).split(" ").filter((word) => word !== "");
  const pairs = tags.split(";").map((tag) => [tag.split("=", 1)[0] ?? "", tag.slice(tag.indexOf("=") + 1)] as const);
  const params = colon < 0 ? words : [...words, rest.slice(colon + 1)];
  return { tags: Object.fromEntries(pairs), nick, place, command: command.toUpperCase(), params };
}

/** Without colours, bold and other formatting. */
export const withoutFormatting = (text: string): string =>
  text.replaceAll("\t", " ").replace(/\cC(?:\d{1,2}(?:,\d{1,2})?)?|\cD(?:[\da-f]{6}(?:,[\da-f]{6})?)?|\p{Cc}/giu, "");
