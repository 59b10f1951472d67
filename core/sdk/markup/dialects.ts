/** The dialects by their names. */
import { discord, markdown } from "./backslash-marks.ts";
import type { Dialect } from "./dialect.ts";
import { matrix } from "./matrix.ts";
import { mrkdwn, whatsapp } from "./pair-marks.ts";
import { plain } from "./plain.ts";
import { telegram } from "./telegram.ts";

/**
 * The markup of a platform: `html` of the Telegram Bot API, `mrkdwn` of Slack, `discord`, `whatsapp`, `matrix` (the
 * HTML of `org.matrix.custom.html`), `markdown` (CommonMark, such as Mattermost), or `plain` for platforms without one.
 *
 * @example
 * const dialect: MarkupDialect = "mrkdwn";
 */
export type MarkupDialect = "html" | "mrkdwn" | "discord" | "whatsapp" | "matrix" | "markdown" | "plain";

const dialects: Readonly<Record<MarkupDialect, Dialect>> = {
  html: telegram,
  mrkdwn,
  discord,
  whatsapp,
  matrix,
  markdown,
  plain,
};

/** Throws `RangeError` for another name. */
export function dialectOf(name: MarkupDialect): Dialect {
  if (!Object.hasOwn(dialects, name))
    throw new RangeError(`${name} is not a dialect: use one of ${Object.keys(dialects).join(", ")}`);
  return dialects[name];
}
