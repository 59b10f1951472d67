/** Reads a file with syntax errors: lists the errors and recovers the remaining values. */
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
  /** The syntax errors, at most one for each line of the file. */
  readonly faults: readonly Problem[];
  /** True if every value was recovered, for example when only a comma is missing. */
  readonly complete: boolean;
  /** Whether a problem was in the file itself, rather than caused by a syntax error. */
  isSound(problem: Problem): boolean;
  /** Whether a top-level section was read completely. True also for sections that the file does not contain. */
  isRead(section: string): boolean;
}

/** Errors that lose no values. */
const harmless = ["CommaExpected", "InvalidCommentToken"];
/** Errors that only affect the text in which they occur. */
const inText = ["InvalidEscapeCharacter", "InvalidCharacter", "InvalidUnicode"];

/** Parses a damaged text; `undefined` if nothing in it can be trusted. */
export function parseDamaged(source: string): DamagedDocument | undefined {
  const text = withoutMark(source);
  if (tooDeepAt(text) !== undefined) return undefined;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, parseOptions);
  if (root?.type !== "object" || errors.length === 0) return undefined;
  const unbalanced = unbalancedAt(text);
  const first = errors[0]?.offset ?? 0;
  // After a missing bracket, everything may be nested wrongly, and the parser may notice it only much later.
  const trusted = unbalanced === undefined ? Number.POSITIVE_INFINITY : sectionStart(root, Math.min(first, unbalanced));
  const codes = errors.map(({ error }) => printParseErrorCode(error));
  const complete = unbalanced === undefined && codes.every((code) => harmless.includes(code) || inText.includes(code));
  const damaged = errors.filter((_, index) => !harmless.includes(codes[index] ?? "")).map(({ offset }) => offset);
  const isWhole = ({ offset, length }: Node) =>
    offset + length <= trusted && !damaged.some((at) => at >= offset && at <= offset + length);
  return {
    document: documentOf(text, root),
    faults: faultsOf(text, errors, codes),
    complete,
    isSound({ path, severity }) {
      const at: readonly Segment[] = parsePath(path) ?? [];
      // An unknown or duplicate key may have lost the object that it belongs to.
      const parent = severity === "warning" && !complete ? at.slice(0, -1) : at;
      return isWhole(nearestNode(root, parent));
    },
    isRead(section) {
      const node = nearestNode(root, [section]);
      return node === root ? unbalanced === undefined : isWhole(node);
    },
  };
}

/** Keeps the first error of each line, because later ones are usually its consequence. */
function faultsOf(text: string, errors: readonly ParseError[], codes: readonly string[]): readonly Problem[] {
  const faults: Problem[] = [];
  for (const [index, { error, offset }] of errors.entries()) {
    const place = positionAt(text, offset);
    // An unterminated string also swallows the comma after it.
    const follows = codes[index] === "CommaExpected" && codes[index - 1] === "UnexpectedEndOfString";
    if (follows || faults.some(({ line }) => line === place.line)) continue;
    faults.push({ severity: "error", path: "", message: reasonFor(error), ...place });
  }
  return faults;
}

/**
 * Offset of a bracket that closes nothing, or the end of the text if a bracket is still open; `undefined` if all
 * brackets match.
 */
function unbalancedAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  const open: number[] = [];
  for (let kind = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.openBrace) open.push(token.closeBrace);
    else if (kind === token.openBracket) open.push(token.closeBracket);
    else if ((kind === token.closeBrace || kind === token.closeBracket) && open.pop() !== kind)
      return scanner.getTokenOffset();
  }
  return open.length === 0 ? undefined : text.length;
}

/** Offset of the top-level section that contains the given offset. */
function sectionStart(root: Node, offset: number): number {
  const sections = (root.children ?? []).map((section) => section.offset);
  return sections.findLast((start) => start <= offset) ?? root.offset;
}
