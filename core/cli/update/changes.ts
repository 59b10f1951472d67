/** The part of a change log between two versions. */
import { gt, valid } from "semver";

export interface Change {
  readonly version: string;
  readonly text: string;
}

/** More would not be read. */
const maxChars = 20_000;

/**
 * The sections of the versions after one, up to another, in the order of the log. A heading begins with its version.
 */
export function changesBetween(
  log: string,
  { after, until }: { readonly after: string; readonly until: string },
): readonly Change[] {
  const sections = log.split(/^## +/m).slice(1);
  let left = maxChars;
  return sections.flatMap((section) => {
    const end = section.indexOf("\n");
    const heading = end < 0 ? section : section.slice(0, end);
    const version = /^\[?v?(\d+\.\d+\.\d+[^\s\]]*)/.exec(heading)?.[1];
    if (version === undefined || valid(version) === null || !gt(version, after) || gt(version, until)) return [];
    const whole = end < 0 ? "" : section.slice(end).trim();
    const text = whole.length > left ? `${whole.slice(0, left).toWellFormed()} ...` : whole;
    left -= text.length;
    return left <= 0 && text === " ..." ? [] : [{ version, text }];
  });
}
