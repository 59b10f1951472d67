/**
 * Small models of what platforms show of a message, written from their rules and independent of what writes the
 * messages: the words that a reader sees, what is styled, where links lead, and who is notified.
 */
import { createRequire } from "node:module";
import { Parser } from "htmlparser2";
import type { MarkdownIt, MarkdownItOptions, Token } from "markdown-it";

export interface Shown {
  readonly text: string;
  /** `bold:words`, in order of their ends; a link is `link <address>:words`. */
  readonly styles: readonly string[];
  /** Mentions that the platform finds. */
  readonly pings: readonly string[];
}

interface Builder {
  text: string;
  readonly styles: string[];
  readonly pings: string[];
}

const builder = (): Builder => ({ text: "", styles: [], pings: [] });

function add(out: Builder, text: string): void {
  out.text += text;
}

function styled(out: Builder, name: string, run: () => void): void {
  const start = out.text.length;
  run();
  out.styles.push(`${name}:${out.text.slice(start)}`);
}

const word = /[\p{L}\p{M}\p{N}]/u;
const before = (text: string, at: number) => [...text.slice(Math.max(0, at - 2), at).toWellFormed()].at(-1) ?? "";
const after = (text: string, at: number) => [...text.slice(at, at + 2)][0] ?? "";

/** Slack and WhatsApp: pairs of marks, of which each is beside a space or punctuation, and in one paragraph at most. */
function showPairs(
  markup: string,
  read: {
    code(text: string): string;
    inline(text: string, about: { readonly at: number; readonly isLineStart: boolean }, out: Builder): number;
  },
): Shown {
  const out = builder();
  const names: Readonly<Record<string, string>> = { "*": "bold", _: "italic", "~": "strike" };
  const isOpen = (text: string, at: number) =>
    !word.test(before(text, at)) && /\S/.test(after(text, at + 1)) && after(text, at + 1) !== text[at];
  const closing = (text: string, from: number, mark: string) => {
    for (let at = from + 1; at < text.length; at += 1) {
      if (text.startsWith("```", at)) return -1;
      if (text[at] === "`" && text.indexOf("`", at + 1) > 0) at = text.indexOf("`", at + 1);
      else if (text[at] === mark && /\S/.test(before(text, at)) && !word.test(after(text, at + 1))) return at;
    }
    return -1;
  };
  function show(text: string, isStart: boolean): void {
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at);
      const block = /^```\n?([\s\S]+?)\n?```(?!`)/.exec(rest);
      const isLineStart = at === 0 ? isStart : text[at - 1] === "\n";
      const code = /^`([^`\n]+)`/.exec(rest);
      const mark = names[rest[0] ?? ""];
      const quote = isLineStart ? /^(?:>|&gt;) ?/.exec(rest) : null;
      if (block !== null) {
        styled(out, "code", () => add(out, read.code(block[1] ?? "")));
        at += block[0].length;
      } else if (quote !== null) {
        const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
        styled(out, "quote", () => show(text.slice(at + quote[0].length, end), true));
        at = end;
      } else if (code !== null) {
        styled(out, "code", () => add(out, read.code(code[1] ?? "")));
        at += code[0].length;
      } else if (mark !== undefined && isOpen(text, at) && closing(text, at, rest[0] ?? "") > at + 1) {
        const end = closing(text, at, rest[0] ?? "");
        styled(out, mark, () => show(text.slice(at + 1, end), false));
        at = end + 1;
      } else at += read.inline(text, { at, isLineStart }, out);
    }
  }
  show(markup, true);
  return out;
}

const unescaped = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export const showMrkdwn = (markup: string): Shown =>
  showPairs(markup, {
    code: unescaped,
    inline(text, { at }, out) {
      const rest = text.slice(at);
      const control = /^<([^>\n]*)>/.exec(rest);
      if (control !== null) {
        const [target = "", label = target] = (control[1] ?? "").split(/\|(.*)/s);
        if (/^[@#!]/.test(target)) out.pings.push(target);
        styled(out, `link ${unescaped(target)}`, () => add(out, unescaped(label)));
        return control[0].length;
      }
      const entity = /^&(?:lt|gt|amp);/.exec(rest)?.[0] ?? rest[0] ?? "";
      out.text += unescaped(entity);
      return entity.length;
    },
  });

export const showWhatsapp = (markup: string): Shown =>
  showPairs(markup, {
    code: (text) => text,
    inline(text, { at, isLineStart }, out) {
      const bullet = isLineStart ? /^[-*] /.exec(text.slice(at))?.[0] : undefined;
      out.text += bullet === undefined ? text[at] : "(bullet) ";
      return bullet?.length ?? 1;
    },
  });

/** Discord: the first rule that fits at a place wins. */
export function showDiscord(markup: string): Shown {
  const out = builder();
  for (const [found] of markup.matchAll(/@everyone|@here|<@[!&]?\d+>/g)) out.pings.push(found);
  const rules: readonly (readonly [RegExp, string])[] = [
    [/^\*\*([\s\S]+?)\*\*(?!\*)/, "bold"],
    [/^__([\s\S]+?)__(?!_)/, "underline"],
    [
      /^(?<=^|[^\p{L}\p{N}_])_((?:__|\\[\s\S]|[^\\_])+?)_(?![\p{L}\p{N}_])|^\*(?=\S)((?:\*\*|\\[\s\S]|[^*\\])+?)\*(?!\*)/u,
      "italic",
    ],
    [/^~~([\s\S]+?)~~/, "strike"],
    [/^\|\|([\s\S]+?)\|\|/, "spoiler"],
  ];
  function line(text: string, isFirst = false): void {
    for (let at = 0; at < text.length; ) {
      const rest = text.slice(at);
      const isStart = isFirst && at === 0;
      const escaped = /^\\([^\p{L}\p{N}\s])/u.exec(rest);
      const code = /^(`+)([\s\S]*?[^`])\1(?!`)/.exec(rest);
      const url = /^https?:\/\/[^\s<]+[^<.,:;"')\]\s]/.exec(rest) ?? /^<(https?:\/\/[^\s>]+)>/.exec(rest);
      const link = /^\[((?:\\[\s\S]|[^[\]\\])*)\]\(<?((?:\\[\s\S]|[^\s\\()])*?)>?\)/.exec(rest);
      const head = isStart ? /^\s*(?:#{1,3}|-#|[-*]|\d+\.)\s+/.exec(rest) : null;
      const rule = rules.flatMap(([pattern, name]) => {
        const found = name === "italic" && word.test(before(text, at)) && rest[0] === "_" ? null : pattern.exec(rest);
        return found === null ? [] : [{ found, name }];
      })[0];
      if (head !== null) {
        styled(out, "block", () => line(rest.slice(head[0].length)));
        return;
      }
      if (escaped !== null) {
        out.text += escaped[1];
        at += escaped[0].length;
      } else if (code !== null) {
        styled(out, "code", () => add(out, (code[2] ?? "").trim()));
        at += code[0].length;
      } else if (url !== null) {
        const target = url[1] ?? url[0];
        styled(out, `link ${target}`, () => add(out, target));
        at += url[0].length;
      } else if (link !== null) {
        styled(out, `link ${link[2]}`, () => line(link[1] ?? ""));
        at += link[0].length;
      } else if (rule !== undefined) {
        styled(out, rule.name, () => line(rule.found[1] ?? rule.found[2] ?? ""));
        at += rule.found[0].length;
      } else {
        const control = /^<(?:[@#][!&]?\d+|a?:\w+:\d+|t:\d+(?::\w)?|\/[^>]+:\d+)>/.exec(rest)?.[0];
        out.text += control === undefined ? text[at] : "(control)";
        at += control?.length ?? 1;
      }
    }
  }
  function lines(text: string): void {
    for (let rest = text; rest !== ""; ) {
      const block = /^```(?:([a-z0-9_+.#-]+)\n)?\n?([\s\S]+?)\n?```(?!`)/i.exec(rest);
      const quote = /^(?:> [^\n]*(?:\n|$))+/.exec(rest);
      const whole = /^>>> [\s\S]*/.exec(rest);
      if (block !== null) {
        styled(out, `code ${block[1] ?? ""}`.trim(), () => add(out, block[2] ?? ""));
        rest = rest.slice(block[0].length);
      } else if (quote !== null || whole !== null) {
        const found = (quote ?? whole)?.[0] ?? "";
        const inner = found.replace(/^>(?:>>)? /gm, "");
        styled(out, "quote", () => lines(inner.replace(/\n$/, "")));
        if (inner.endsWith("\n")) out.text += "\n";
        rest = rest.slice(found.length);
      } else {
        const end = rest.indexOf("\n");
        line(end < 0 ? rest : rest.slice(0, end), true);
        if (end >= 0) out.text += "\n";
        rest = end < 0 ? "" : rest.slice(end + 1);
      }
    }
  }
  lines(markup);
  return out;
}

/** Matrix: the elements that the specification allows. */
export function showMatrix(markup: string): Shown {
  const out = builder();
  const open: { readonly name: string; readonly start: number }[] = [];
  const names: Readonly<Record<string, string>> = {
    ...{ strong: "bold", em: "italic", del: "strike", u: "underline", code: "code", pre: "pre", blockquote: "quote" },
    span: "spoiler",
  };
  let isPre = 0;
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (tag === "br") return add(out, "\n");
        if (tag === "pre") isPre += 1;
        const name = tag === "a" ? `link ${attributes.href}` : names[tag];
        if (name === undefined) throw new Error(`<${tag}> is not allowed`);
        open.push({ name, start: out.text.length });
      },
      ontext(text) {
        out.text += isPre > 0 ? text : text.replace(/[ \t\n]+/g, " ");
      },
      onclosetag(tag) {
        if (tag === "br") return;
        if (tag === "pre") isPre -= 1;
        const style = open.pop();
        out.styles.push(`${style?.name}:${out.text.slice(style?.start)}`);
      },
    },
    { decodeEntities: true },
  );
  parser.end(markup);
  if (/@room/i.test(out.text)) out.pings.push("@room");
  return out;
}

const Markdown = createRequire(import.meta.url)("markdown-it") as new (
  preset: string,
  options: MarkdownItOptions,
) => MarkdownIt;

/** Mattermost: CommonMark with tables and strikethrough, a line break is one, and names behind `@` are mentions. */
export function showMarkdown(markup: string): Shown {
  const out = builder();
  const parser = new Markdown("default", { html: false, linkify: false, typographer: false });
  const names: Readonly<Record<string, string>> = {
    ...{ strong_open: "bold", em_open: "italic", s_open: "strike", blockquote_open: "quote" },
  };
  const open: { readonly name: string; readonly start: number }[] = [];
  let words = "";
  const separate = () => {
    if (out.text !== "" && !out.text.endsWith("\n")) out.text += "\n";
  };
  const show = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === "paragraph_open") separate();
      else if (token.type === "inline") show(token.children ?? []);
      else if (token.type === "fence" || token.type === "code_inline") {
        if (token.type === "fence") separate();
        styled(out, "code", () => add(out, token.content.replace(/\n$/, "")));
      } else if (token.type === "link_open")
        open.push({ name: `link ${token.attrGet("href")}`, start: out.text.length });
      else if (names[token.type] !== undefined) open.push({ name: names[token.type] ?? "", start: out.text.length });
      else if (token.nesting === -1 && token.type !== "paragraph_close") {
        const style = open.pop();
        out.styles.push(`${style?.name}:${out.text.slice(style?.start)}`);
      } else if (token.type === "softbreak" || token.type === "hardbreak") out.text += "\n";
      else if (token.nesting === 0) {
        if (token.type !== "text" && token.type !== "text_special") out.text += `(${token.type})`;
        words += token.content;
        out.text += token.content;
      } else if (token.type !== "paragraph_close") out.text += `(${token.type})`;
    }
  };
  show(parser.parse(markup, {}));
  for (const [found] of words.matchAll(/(?<![\p{L}\p{N}])@[\p{L}\p{N}][\w.-]*/gu)) out.pings.push(found);
  return out;
}
