/** Reads JavaScript and TypeScript by its tokens only: what is code, and what is a comment or a text. */

/** A slash behind one of these begins a regular expression, and a division behind anything else. */
const beforeExpression =
  /(?:^|[([{,;:=!&|?+\-*%^~<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|instanceof))$/;
const spaceOf = (text: string): string => text.replace(/[^\n]/g, " ");

const comments: readonly RegExp[] = [/\/\/[^\n]*/y, /\/\*[\s\S]*?(?:\*\/|$)/y];
const strings: readonly RegExp[] = [/"(?:[^"\\\n]|\\[\s\S])*"?/y, /'(?:[^'\\\n]|\\[\s\S])*'?/y];
const expression = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** Text in which nothing can begin. */
const plain = /[^"'`/{}]+/y;
/** From a backtick, or from the end of an inserted expression, to the next one or to the end of the template. */
const template = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/**
 * The text with its comments, strings, templates and regular expressions blanked; every other character keeps its
 * place.
 */
export function codeOnly(source: string): string {
  const pieces: string[] = [];
  let at = 0;
  /** The end of what was read. */
  let tail = "";
  /** For each template that is open: how many braces of its inserted expression are. */
  const open: number[] = [];
  const take = (text: string, isCode: boolean): void => {
    pieces.push(isCode ? text : spaceOf(text));
    // Blanks do not change what a slash means, and a value that was blanked ends an expression like a name does.
    tail = isCode ? (tail + text).slice(-40) : `${tail}0`.slice(-40);
    at += text.length;
  };
  const takeTemplate = (): void => {
    const text = matchAt(template, source, at + 1);
    if (text.endsWith("${")) open.push(0);
    take(source.slice(at, at + 1 + text.length), false);
    if (text.endsWith("${")) tail = "(";
  };
  while (at < source.length) {
    const code = matchAt(plain, source, at);
    if (code !== "") take(code, true);
    if (at === source.length) break;
    const character = source[at] ?? "";
    const comment = comments.reduce((found, pattern) => found || matchAt(pattern, source, at), "");
    const text = comment === "" ? strings.reduce((found, pattern) => found || matchAt(pattern, source, at), "") : "";
    const depth = open.at(-1);
    if (comment !== "") {
      const before = tail;
      take(comment, false);
      tail = before;
    } else if (text !== "") take(text, false);
    else if (character === "`") takeTemplate();
    else if (character === "}" && depth === 0) {
      open.pop();
      takeTemplate();
    } else {
      if (depth !== undefined && (character === "{" || character === "}"))
        open[open.length - 1] = depth + (character === "{" ? 1 : -1);
      const regular = character === "/" && beforeExpression.test(tail.trimEnd()) ? matchAt(expression, source, at) : "";
      take(regular === "" ? character : regular, regular === "");
    }
  }
  return pieces.join("");
}

/** The line of the first decorator, from 1; `undefined` if there is none. An at sign has no other meaning in code. */
export function decoratorLine(source: string): number | undefined {
  if (!/@[\p{ID_Start}$_(]/u.test(source)) return undefined;
  const code = codeOnly(source);
  const at = code.search(/@[\p{ID_Start}$_(]/u);
  return at === -1 ? undefined : code.slice(0, at).split("\n").length;
}
