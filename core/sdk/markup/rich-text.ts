/**
 * Styled text: the representation between Markdown and the markup of a platform.
 *
 * `text` is exactly what a reader sees. Styles are ranges of the text. Splitting happens at this level, where no mark,
 * tag or entity can be broken.
 */
export type Style =
  | { readonly kind: "bold" | "italic" | "underline" | "strike" | "spoiler" | "code" }
  | { readonly kind: "pre"; readonly language?: string }
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "quote"; readonly long?: boolean };

export type Span = Style & { readonly start: number; readonly end: number };

/** A range that is kept in one message if it fits. */
export interface Whole {
  readonly start: number;
  readonly end: number;
}

export interface RichText {
  readonly text: string;
  /** Ordered by start, outer spans first. */
  readonly spans: readonly Span[];
  /** Ordered by start. */
  readonly wholes: readonly Whole[];
}

/** The part of a text from `start` to `end`, with its styles. */
export function slice(rich: RichText, start: number, end: number): RichText {
  return createSlicer(rich)(start, end);
}

/**
 * Creates a function that returns successive parts: no part may begin before an earlier one. All parts together take a
 * single pass over the styles.
 */
export function createSlicer(rich: RichText): (start: number, end: number) => RichText {
  const spans = createCutter(rich.spans);
  const wholes = createCutter(rich.wholes);
  return (start, end) => {
    if (start === 0 && end === rich.text.length) return rich;
    return { text: rich.text.slice(start, end), spans: spans(start, end), wholes: wholes(start, end) };
  };
}

function createCutter<T extends Whole>(ranges: readonly T[]): (start: number, end: number) => T[] {
  /** Ranges that began before and have not ended. There are few, because no style contains itself. */
  let begun: T[] = [];
  let next = 0;
  return (start, end) => {
    begun = begun.filter((range) => range.end > start);
    for (let range = ranges[next]; range !== undefined && range.start < end; range = ranges[++next]) {
      if (range.end > start) begun.push(range);
    }
    return begun
      .filter((range) => range.start < end)
      .map((range) => ({
        ...range,
        start: Math.max(range.start, start) - start,
        end: Math.min(range.end, end) - start,
      }));
  };
}

/** True if nothing in the text is visible. The platform rejects such messages. */
export function isBlank(text: string): boolean {
  // The first pattern is a hundred times cheaper, and nearly every text has an ASCII character that one can see.
  return !/[!-~]/.test(text) && !/[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text);
}

export interface RichTextBuilder {
  length(): number;
  /** The end of the text written so far, without trailing white space. */
  seen(): number;
  write(text: string): void;
  /** Begins a new line unless the current one is empty. */
  freshLine(): void;
  /** Leaves one blank line, except at the very beginning. */
  blankLine(): void;
  open(style: Style): void;
  close(kind: Style["kind"]): void;
  whole(run: () => void): void;
  /** The text written so far, including trailing white space. Another builder can continue from it. */
  soFar(): RichText;
  finish(): RichText;
}

type Growing = Style & { readonly start: number; end: number };

export const nothingYet: RichText = { text: "", spans: [], wholes: [] };

export function createRichTextBuilder(begun: RichText = nothingYet): RichTextBuilder {
  let { text } = begun;
  /**
   * Number of line breaks at the end of the text, at most two. It is counted because inspecting a growing string would
   * flatten it each time.
   */
  let ends = text.endsWith("\n\n") ? 2 : text.endsWith("\n") ? 1 : 0;
  let seen = text.length;
  /** In the order of opening, and therefore by start, outer spans first. */
  const spans: Growing[] = [...begun.spans];
  const open: Growing[] = [];
  /**
   * How often each style was opened again within itself, which has no effect. Malicious texts nest a style thousands of
   * times.
   */
  const again = new Map<Style["kind"], number>();
  const wholes: Whole[] = [...begun.wholes];
  const write = (more: string) => {
    if (more === "") return;
    text += more;
    if (/\S/.test(more)) seen = text.length;
    ends = !more.endsWith("\n") ? 0 : more === "\n" ? Math.min(ends + 1, 2) : more.endsWith("\n\n") ? 2 : 1;
  };
  return {
    length: () => text.length,
    seen: () => seen,
    write,
    freshLine() {
      if (text !== "" && ends === 0) write("\n");
    },
    blankLine() {
      if (text !== "" && ends < 2) write(ends === 0 ? "\n\n" : "\n");
    },
    open(style) {
      if (open.some(({ kind }) => kind === style.kind)) {
        again.set(style.kind, (again.get(style.kind) ?? 0) + 1);
        return;
      }
      const span = { ...style, start: text.length, end: -1 };
      spans.push(span);
      open.push(span);
    },
    close(kind) {
      const inner = again.get(kind) ?? 0;
      if (inner > 0) {
        again.set(kind, inner - 1);
        return;
      }
      const found = open.findLastIndex((each) => each.kind === kind);
      const [span] = found < 0 ? [] : open.splice(found, 1);
      if (span !== undefined) span.end = text.length;
    },
    whole(run) {
      const start = text.length;
      run();
      wholes.push({ start, end: text.length });
    },
    soFar: () => ({ text, spans: spans.filter((span) => span.end > span.start), wholes: [...wholes] }),
    finish() {
      for (const span of open.splice(0)) span.end = text.length;
      again.clear();
      const rich = { text, spans: spans.filter((span) => span.end > span.start), wholes };
      return slice(rich, 0, text.trimEnd().length);
    },
  };
}
