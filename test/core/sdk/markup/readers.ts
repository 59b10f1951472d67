/**
 * Our HTML as two parsers read it that know nothing of us: the emulated platform's, and the one of a client library.
 */
import { thtml } from "@mtcute/html-parser";
import { orderEntities } from "../../../../plugins/playground/platform/entities.ts";
import { parseHtml } from "../../../../plugins/playground/platform/parse.ts";

export interface Reading {
  readonly text: string;
  /** `style from-to`, in order; links are left out, because each parser has its own idea of which address is one. */
  readonly styles: readonly string[];
  readonly ranges: readonly { readonly type: string; readonly start: number; readonly end: number }[];
}

function reading(text: string, ranges: Reading["ranges"]): Reading {
  const styles = ranges.filter(({ type }) => type !== "link").map(({ type, start, end }) => `${type} ${start}-${end}`);
  return { text, styles: styles.sort(), ranges };
}

const platformNames: Readonly<Record<string, string>> = {
  text_link: "link",
  text_mention: "link",
  expandable_blockquote: "blockquote",
};

export function readAsPlatform(html: string): Reading {
  const { text, entities } = parseHtml(html, () => undefined);
  const range = ({ type, offset, length }: (typeof entities)[number]) => ({
    type: platformNames[type] ?? type,
    start: offset,
    end: offset + length,
  });
  // What the platform would change about them is what is wrong with them.
  if (entities.length <= 100 && orderEntities(entities).length !== entities.length)
    throw new Error(`the platform leaves out styles of ${html}`);
  return reading(text, entities.map(range));
}

const strangersNames: Readonly<Record<string, string>> = {
  messageEntityBold: "bold",
  messageEntityItalic: "italic",
  messageEntityStrike: "strikethrough",
  messageEntitySpoiler: "spoiler",
  messageEntityCode: "code",
  messageEntityPre: "pre",
  messageEntityBlockquote: "blockquote",
  messageEntityTextUrl: "link",
  messageEntityMentionName: "link",
};

export function readAsStranger(html: string): Reading {
  // It takes common indentation off and cuts the edges: a line without indentation at each end keeps it from both.
  const { text, entities = [] } = thtml(`.\n${html}\n.`);
  const range = ({ _: type, offset, length }: (typeof entities)[number]) => {
    const name = strangersNames[type];
    if (name === undefined) throw new Error(`nobody wrote ${type} in ${html}`);
    return { type: name, start: offset - 2, end: offset - 2 + length };
  };
  return reading(text.slice(2, -2), entities.map(range));
}

/** Two ranges of which each begins or ends inside the other. */
export function crossing({ ranges }: Reading): string | undefined {
  const sorted = ranges.toSorted((a, b) => a.start - b.start || b.end - a.end);
  for (const [index, outer] of sorted.entries()) {
    for (const inner of sorted.slice(index + 1)) {
      if (inner.start >= outer.end) break;
      if (inner.end > outer.end) return `${JSON.stringify(outer)} and ${JSON.stringify(inner)}`;
    }
  }
  return undefined;
}
