/**
 * The text of a configuration without its secrets, for people who edit it elsewhere: each secret is a placeholder, and
 * an edited text gets the secrets back as they were written.
 */
import { createScanner, type Node, type ParseError, parseTree } from "jsonc-parser";
import { HostError } from "../../contract/index.ts";
import { propertyOf, type SchemaNode } from "../schema-node.ts";
import { branchFor, isSecretName, itemsOf, redactConfig } from "./redact.ts";

interface Hidden {
  readonly offset: number;
  readonly length: number;
  /** Whether it is a whole value, whose placeholder is a text in quotes. */
  readonly isValue: boolean;
}

export interface MaskedText {
  readonly text: string;
  /** The word of all placeholders, such as `(hidden secret 1)`. */
  readonly word: string;
  /** By number: what each placeholder stands for, as it is written in the file. */
  readonly secrets: readonly { readonly placeholder: string; readonly written: string }[];
}

const lineComment = 12;
const blockComment = 13;
const end = 17;
/** Shorter secrets occur inside ordinary words. */
const shortestInside = 6;
/** A key with a text, where no parser reads it: in a comment, or behind an error. */
const unparsedSetting = /["']?([\w.-]{1,100})["']?\s*:\s*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')/g;

/** What is known of secrets beside the text. */
export interface KnownSecrets {
  /** The schema of the whole configuration. */
  readonly schema: SchemaNode;
  /** Values that are secret wherever they are. */
  readonly values: Iterable<string>;
  /** Removes these values from a text in all their spellings. What it would change is hidden as well. */
  readonly redact: (text: string) => string;
}

export function maskText(text: string, known: KnownSecrets): MaskedText {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  // Behind an error the parser may see nothing, so the names of keys are looked for in the text itself.
  const unread = errors.length === 0 ? [] : hiddenSettings(text, 0);
  const found = [...(root === undefined ? [] : hiddenValues(root, known.schema)), ...hiddenInComments(text), ...unread];
  const all = [...found, ...hiddenByValue(text, found, known.values)];
  const word = freeWord(text);
  const masked = withPlaceholders(text, all, word);
  if (known.redact(masked.text) === masked.text) return masked;
  // A short secret, or one in another spelling: the rest of its line is hidden, so that no answer alters the text.
  return withPlaceholders(text, [...all, ...hiddenLines(text, all, known.redact)], word);
}

function withPlaceholders(text: string, hidden: readonly Hidden[], word: string): MaskedText {
  const parts: MaskedText["secrets"][number][] = [];
  let masked = "";
  let from = 0;
  for (const { offset, length, isValue } of hidden.toSorted((a, b) => a.offset - b.offset || b.length - a.length)) {
    if (offset < from) continue;
    const name = `(${word} ${parts.length + 1})`;
    const placeholder = isValue ? JSON.stringify(name) : name;
    parts.push({ placeholder, written: text.slice(offset, offset + length) });
    masked += text.slice(from, offset) + placeholder;
    from = offset + length;
  }
  return { text: masked + text.slice(from), word, secrets: parts };
}

/** The pieces between what is hidden already, line by line, that still contain a secret. */
function hiddenLines(text: string, hidden: readonly Hidden[], redact: KnownSecrets["redact"]): readonly Hidden[] {
  const found: Hidden[] = [];
  let from = 0;
  for (const { offset, length } of [
    ...hidden.toSorted((a, b) => a.offset - b.offset),
    { offset: text.length, length: 0 },
  ]) {
    for (const piece of text.slice(from, offset).matchAll(/[^\n]+/g))
      if (redact(piece[0]) !== piece[0])
        found.push({ offset: from + piece.index, length: piece[0].length, isValue: false });
    from = Math.max(from, offset + length);
  }
  return found;
}

/** A word that no text of the file looks like. */
function freeWord(text: string): string {
  let word = "hidden secret";
  while (text.includes(`(${word} `)) word = `${word}_`;
  return word;
}

/**
 * Puts the secrets back into an edited text. Throws `config_invalid` if a placeholder is unknown, occurs twice, or is
 * in a place where its secret would be shown.
 */
export function unmaskText(edited: string, { secrets, text, word }: MaskedText, known: KnownSecrets): string {
  const used = new Set<string>();
  const written = (placeholder: string): string | undefined => {
    const found = used.has(placeholder) ? undefined : secrets.find((one) => one.placeholder === placeholder);
    if (found !== undefined) used.add(placeholder);
    return found?.written;
  };
  const restored = edited.replace(new RegExp(`"\\(${word} \\d+\\)"|\\(${word} \\d+\\)`, "g"), (placeholder) => {
    const whole = written(placeholder);
    if (whole !== undefined) return whole;
    // What is hidden inside a text has no quotes of its own.
    const inner = placeholder.startsWith('"') ? written(placeholder.slice(1, -1)) : undefined;
    if (inner === undefined) throw misplaced(placeholder);
    return `"${inner}"`;
  });
  const shown = maskText(restored, known).text;
  const count = (inside: string, part: string) => inside.split(part).length;
  const moved = secrets.find(
    (one) => used.has(one.placeholder) && count(shown, one.written) > count(text, one.written),
  );
  if (moved !== undefined) throw misplaced(moved.placeholder);
  return restored;
}

const misplaced = (placeholder: string) =>
  new HostError("config_invalid", {
    path: placeholder.replaceAll('"', ""),
    reason: "a placeholder stands for one secret, in a place for secrets",
    fix: "Leave it where it was, or replace it with a new value.",
  });

/** Values that the schema or the name of their key marks. References to variables and files are not secret. */
function hiddenValues(node: Node, schema: SchemaNode, isSecret = false): readonly Hidden[] {
  if (node.type === "array") {
    const items = itemsOf(schema);
    return (node.children ?? []).flatMap((child) => hiddenValues(child, items, isSecret));
  }
  if (node.type === "object") {
    const branch = branchFor(schema);
    return (node.children ?? []).flatMap((property) => {
      const [keyNode, value] = property.children ?? [];
      if (keyNode === undefined || value === undefined) return [];
      const key = String(keyNode.value);
      if (isSecret && (key === "env" || key === "file")) return [];
      const inner = propertyOf(branch, key);
      const declared = inner !== undefined && Object.keys(inner).length > 0;
      const named = isSecretName(key) && (value.type !== "number" || !declared);
      return hiddenValues(value, inner ?? {}, isSecret || inner?.secret === true || named);
    });
  }
  if (node.type === "string") {
    const text = String(node.value);
    if (text === "" || isReference(text)) return [];
    return isSecret || schema.secret === true || redactConfig(text, {}) !== text ? [wholeOf(node)] : [];
  }
  return isSecret && node.type === "number" ? [wholeOf(node)] : [];
}

const isReference = (text: string): boolean => /^\$\{\w+\}$/.test(text);

const wholeOf = ({ offset, length }: Node): Hidden => ({ offset, length, isValue: true });

function hiddenInComments(text: string): readonly Hidden[] {
  const scanner = createScanner(text, false);
  const found: Hidden[] = [];
  for (let kind = scanner.scan(); (kind as number) !== end; kind = scanner.scan()) {
    if ((kind as number) !== lineComment && (kind as number) !== blockComment) continue;
    // The value of a comment's token begins before the comment.
    const at = scanner.getTokenOffset();
    found.push(...hiddenSettings(text.slice(at, at + scanner.getTokenLength()), at));
  }
  return found;
}

/** Keys whose name is that of a secret, with a text. */
function hiddenSettings(text: string, start: number): readonly Hidden[] {
  return [...text.matchAll(unparsedSetting)].flatMap((match) => {
    const [whole, name = "", value = ""] = match;
    if (!isSecretName(name) || value.length <= 2 || isReference(value.slice(1, -1))) return [];
    return [{ offset: start + match.index + whole.length - value.length, length: value.length, isValue: true }];
  });
}

function hiddenByValue(text: string, found: readonly Hidden[], secrets: Iterable<string>): readonly Hidden[] {
  const inside = (at: number) => found.some(({ offset, length }) => at >= offset && at < offset + length);
  return [...secrets].flatMap((secret) => {
    const written = JSON.stringify(secret).slice(1, -1);
    if (written.length < shortestInside) return [];
    const places: Hidden[] = [];
    for (let at = text.indexOf(written); at !== -1; at = text.indexOf(written, at + written.length))
      if (!inside(at)) places.push({ offset: at, length: written.length, isValue: false });
    return places;
  });
}
