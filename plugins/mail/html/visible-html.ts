/** Leaves out of an HTML mail what a reader would not see: hidden text could be instructions for the agent. */
import { Parser } from "htmlparser2";
import { type Appearance, appearanceOf, isRelevant, isShown, plainPage } from "./appearance.ts";
import type { Styled } from "./selectors.ts";
import { parseStyleSheet } from "./style-sheet.ts";

/** Text that the mail hides from its reader. */
export interface HiddenText {
  readonly characters: number;
  /** All of it stands before the first text that can be seen, as the preview line of a newsletter does. */
  readonly isPreview: boolean;
}

/** Elements whose content readers never see as text. */
const unread = new Set([
  "style",
  "script",
  "title",
  "svg",
  "object",
  "iframe",
  "math",
  "applet",
  "audio",
  "video",
  "canvas",
]);
/** Their content is text that is not shown. */
const unshown = new Set(["noscript", "template", "noembed", "noframes", "datalist", "progress", "meter", "rp"]);
/** The attributes that the conversion to text needs. */
const visibleAttributes = ["href", "start", "type", "colspan", "rowspan"] as const;
const voids = new Set([
  "br",
  "hr",
  "img",
  "wbr",
  "input",
  "meta",
  "link",
  "area",
  "base",
  "col",
  "embed",
  "source",
  "track",
]);

interface Element extends Styled {
  readonly appearance: Appearance;
  readonly isUnread: boolean;
  /** Only the first `summary` of a closed `details` can be seen. */
  readonly isClosed: boolean;
  /** The tag that was written for it, if any. */
  readonly written: string | undefined;
  /** The last element in it so far. */
  last?: Styled;
}

type Opened = Readonly<Record<string, string>>;
type Piece =
  | { readonly open: string; readonly attributes: Opened }
  | { readonly close: string }
  | { readonly text: string };

/** A preview line is not longer than this. */
const longestPreview = 400;

export function visibleHtml(html: string): { readonly html: string; readonly hidden?: HiddenText } {
  const { pieces, styles } = read(html);
  const sheet = parseStyleSheet(styles, isRelevant);
  const elements: Element[] = [];
  let shown = "";
  let hasSeen = false;
  let before = 0;
  let after = 0;

  for (const piece of pieces) {
    if ("open" in piece) open(piece.open, piece.attributes);
    else if ("close" in piece) close(piece.close);
    else write(piece.text);
  }
  const characters = before + after;
  return {
    html: shown,
    ...(characters > 0 && { hidden: { characters, isPreview: after === 0 && before <= longestPreview } }),
  };

  function open(name: string, attributes: Opened): void {
    const parent = elements.at(-1);
    const around = parent?.appearance ?? plainPage;
    const previous = parent?.last;
    const styled = {
      ...{ name, attributes, parent, previous, place: (previous?.place ?? 0) + 1 },
      id: (attributes.id ?? "").trim().toLowerCase(),
      classes: (attributes.class ?? "").slice(0, 500).toLowerCase().split(/\s+/).slice(0, 20),
    };
    if (parent !== undefined) parent.last = styled;
    const isUnread = parent?.isUnread === true || unread.has(name);
    const own = isUnread ? around : appearanceOf(styled, around, sheet);
    const isOutside = parent?.isClosed === true && name !== "summary";
    const isGone =
      isOutside ||
      unshown.has(name) ||
      "hidden" in attributes ||
      "popover" in attributes ||
      (name === "dialog" && !("open" in attributes));
    const appearance = isGone ? { ...own, isGone: true } : own;
    const isWritten = !isUnread && !appearance.isGone && name !== "img";
    // The address of a link that cannot be seen would be text.
    const written = !isWritten ? undefined : name === "a" && !isShown(appearance) ? "span" : name;
    if (written !== undefined) shown += tagOf(written, attributes);
    if (!voids.has(name))
      elements.push({
        ...styled,
        appearance,
        isUnread,
        isClosed: name === "details" && !("open" in attributes),
        written,
      });
  }

  function close(name: string): void {
    const element = elements.at(-1);
    if (element?.name !== name) return;
    elements.pop();
    if (element.written !== undefined) shown += `</${element.written}>`;
  }

  function write(text: string): void {
    const element = elements.at(-1);
    if (element?.isUnread === true) return;
    const letters = text.replace(/[^\p{L}\p{N}]+/gu, "").length;
    if (element === undefined || (isShown(element.appearance) && !element.isClosed)) {
      shown += escapeHtml(text);
      hasSeen ||= letters > 0;
    } else if (letters > 0 && !hasSeen) before += [...text.trim()].length;
    else if (letters > 0) after += [...text.trim()].length;
  }
}

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function tagOf(name: string, attributes: Opened): string {
  const renderedAttributes = visibleAttributes.flatMap((one) =>
    attributes[one] === undefined ? [] : [` ${one}="${escapeHtml(attributes[one])}"`],
  );
  return `<${name}${renderedAttributes.join("")}>`;
}

/** The tags and texts in order, and the sheets, which may stand behind what they apply to. */
function read(html: string): { readonly pieces: readonly Piece[]; readonly styles: string } {
  const pieces: Piece[] = [];
  let styles = "";
  let isStyle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      isStyle = name === "style";
      pieces.push({ open: name, attributes });
    },
    ontext(text) {
      if (isStyle) styles += text;
      else pieces.push({ text });
    },
    onclosetag(name) {
      isStyle = false;
      pieces.push({ close: name });
    },
  });
  parser.end(html);
  return { pieces, styles };
}
