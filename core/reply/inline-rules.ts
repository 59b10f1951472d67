/** Our rules for the Markdown parser: `||hidden||`, and runs of tildes that do not strike through. */
import type { Delimiter, MarkdownIt, StateInline } from "markdown-it";

const bar = 0x7c;
const tilde = 0x7e;
/** Characters at which plain text ends because another rule may begin: the parser's own set, plus the bar. */
const special = /[\n!#$%&*+\-:<=>@[\\\]^_`{|}~]/g;

function plainText(state: StateInline, silent: boolean): boolean {
  special.lastIndex = state.pos;
  const end = Math.min(special.exec(state.src)?.index ?? state.posMax, state.posMax);
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

function bars(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== bar) return false;
  // A spoiler cannot begin inside a word, because `a||b` is an expression. It can end there, because scripts without
  // spaces offer no other place.
  const found = state.scanDelims(state.pos, false);
  if (found.length < 2) return false;
  if (found.length > 2) {
    // The last two bars may open a spoiler. The others become text at once, because rescanning the run from each bar
    // would take quadratic time.
    state.pending += state.src.slice(state.pos, state.pos + found.length - 2);
    state.pos += found.length - 2;
    return true;
  }
  state.push("text", "", 0).content = "||";
  const { can_close: close } = state.scanDelims(state.pos, true);
  state.delimiters.push({
    marker: bar,
    length: 0,
    token: state.tokens.length - 1,
    end: -1,
    open: found.can_open,
    close,
  });
  state.pos += 2;
  return true;
}

function pair(state: StateInline, delimiters: readonly Delimiter[]): void {
  for (const opener of delimiters) {
    const closer = opener.marker === bar && opener.end >= 0 ? delimiters[opener.end] : undefined;
    const first = state.tokens[opener.token];
    const last = closer === undefined ? undefined : state.tokens[closer.token];
    if (first === undefined || last === undefined) continue;
    Object.assign(first, { type: "spoiler_open", nesting: 1, content: "" });
    Object.assign(last, { type: "spoiler_close", nesting: -1, content: "" });
  }
}

/** Only two tildes strike through. The parser would also accept two tildes of a longer run. */
function tildes(state: StateInline, silent: boolean): boolean {
  let end = state.pos;
  while (end < state.posMax && state.src.charCodeAt(end) === tilde) end += 1;
  if (end - state.pos < 3) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

export function addInlineRules(markdown: MarkdownIt): void {
  markdown.inline.ruler.at("text", plainText);
  markdown.inline.ruler.before("emphasis", "spoiler", bars);
  markdown.inline.ruler.before("strikethrough", "tildes", tildes);
  markdown.inline.ruler2.before("emphasis", "spoiler", (state) => {
    pair(state, state.delimiters);
    for (const meta of state.tokens_meta) if (meta?.delimiters) pair(state, meta.delimiters);
    return false;
  });
}
