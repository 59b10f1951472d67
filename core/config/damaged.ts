/** A file whose syntax is broken in places: what is broken, and what the rest of it says. */
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parsePath, type Segment } from "./path.ts";
import type { Problem } from "./problem.ts";
import {
  type ConfigDocument,
  documentOf,
  nearestNode,
  parseOptions,
  positionAt,
  reasonFor,
  token,
  tooDeepAt,
  withoutMark,
} from "./reading/document.ts";

export interface DamagedDocument {
  readonly document: ConfigDocument;
  /** What is broken, one for each line of the file. */
  readonly faults: readonly Problem[];
  /** Every value could be read all the same, as where a comma is missing. */
  readonly complete: boolean;
  /** Whether a problem is the file's own, and not what a fault has left of a value. */
  isSound(problem: Problem): boolean;
  /** Whether a top-level section was read as it is; one that is not in the file, too. */
  isRead(section: string): boolean;
}

/** After these, all values are there. */
const harmless = ["CommaExpected", "InvalidCommentToken"];
/** After these as well, but for the text that has the fault. */
const inText = ["InvalidEscapeCharacter", "InvalidCharacter", "InvalidUnicode"];

/** `undefined`: nothing of the text can be trusted. */
export function parseDamaged(source: string): DamagedDocument | undefined {
  const text = withoutMark(source);
  if (tooDeepAt(text) !== undefined) return undefined;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, parseOptions);
  if (root?.type !== "object" || errors.length === 0) return undefined;
  const unbalanced = unbalancedAt(text);
  const first = errors[0]?.offset ?? 0;
  // Where a bracket is missing, all that follows may be in the wrong place; and it may be missing long before that is noticed.
  const trusted = unbalanced === undefined ? Number.POSITIVE_INFINITY : sectionStart(root, Math.min(first, unbalanced));
  const codes = errors.map(({ error }) => printParseErrorCode(error));
  const complete = unbalanced === undefined && codes.every((code) => harmless.includes(code) || inText.includes(code));
  const damaged = errors.filter((_, index) => !harmless.includes(codes[index] ?? "")).map(({ offset }) => offset);
  const isWhole = ({ offset, length }: Node) => offset + length <= trusted && !damaged.some((at) => at >= offset && at <= offset + length);
  return {
    document: documentOf(text, root),
    faults: faultsOf(text, errors, codes),
    complete,
    isSound({ path, severity }) {
      const at: readonly Segment[] = parsePath(path) ?? [];
      // A key that is unknown, or there twice, may have lost the object that it belongs to.
      const parent = severity === "warning" && !complete ? at.slice(0, -1) : at;
      return isWhole(nearestNode(root, parent));
    },
    isRead(section) {
      const node = nearestNode(root, [section]);
      return node === root ? unbalanced === undefined : isWhole(node);
    },
  };
}

/** The first fault of each line: what follows on the line follows from it. */
function faultsOf(text: string, errors: readonly ParseError[], codes: readonly string[]): readonly Problem[] {
  const faults: Problem[] = [];
  for (const [index, { error, offset }] of errors.entries()) {
    const place = positionAt(text, offset);
    // A text that is not closed takes the comma behind it along.
    const follows = codes[index] === "CommaExpected" && codes[index - 1] === "UnexpectedEndOfString";
    if (follows || faults.some(({ line }) => line === place.line)) continue;
    faults.push({ severity: "error", path: "", message: reasonFor(error), ...place });
  }
  return faults;
}

/** Where a bracket closes what it did not open, or the end of a text in which one is open. */
function unbalancedAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  const open: number[] = [];
  for (let kind = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.openBrace) open.push(token.closeBrace);
    else if (kind === token.openBracket) open.push(token.closeBracket);
    else if ((kind === token.closeBrace || kind === token.closeBracket) && open.pop() !== kind) return scanner.getTokenOffset();
  }
  return open.length === 0 ? undefined : text.length;
}

/** Where the top-level section begins in which the place lies. */
function sectionStart(root: Node, offset: number): number {
  const sections = (root.children ?? []).map((section) => section.offset);
  return sections.findLast((start) => start <= offset) ?? root.offset;
}
