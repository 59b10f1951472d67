/**
 * The rule for definitions of links, such as `[docs]: https://example.com`, which are not shown. A line of that form
 * without a link that uses it is a text of its own, such as `[prod]: down`.
 */
import type { MarkdownIt, StateBlock } from "markdown-it";

/** The parser takes no longer label. */
const label = /\[((?:[^\\[\]]|\\.){1,999})\](?!:)/g;
const defined = /^\[((?:[^\\[\]]|\\.){1,999})\]:/;
/** As the parser compares labels. */
const normalized = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();

/** The texts in brackets that may be links, found once for a text. */
function usedIn({ src, env }: StateBlock): ReadonlySet<string> {
  env.usedLabels ??= new Set([...src.matchAll(label)].map(([, text = ""]) => normalized(text)));
  return env.usedLabels as ReadonlySet<string>;
}

export function showUnusedDefinitions(parser: MarkdownIt): void {
  const { ruler } = parser.block;
  function unused(state: StateBlock, line: number, end: number, silent: boolean): boolean {
    const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
    const [, text] = state.src[start] === "[" ? (defined.exec(state.src.slice(start, start + 2_000)) ?? []) : [];
    if (text === undefined || usedIn(state).has(normalized(text))) return false;
    // The rules behind that of definitions, which is the next one.
    const rules = ruler.getRules("");
    return rules.slice(rules.indexOf(unused) + 2).some((rule) => rule(state, line, end, silent));
  }
  ruler.before("reference", "unused_definition", unused);
}
