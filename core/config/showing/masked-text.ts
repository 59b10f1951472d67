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

/** `secrets`: values that are known to be secret, wherever they are. */
export function maskText(text: string, schema: SchemaNode, secrets: Iterable<string>): MaskedText {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  // Behind an error the parser may see nothing, so the names of keys are looked for in the text itself.
  const unread = errors.length === 0 ? [] : hiddenSettings(text, 0);
  const found = [...(root === undefined ? [] : hiddenValues(root, schema)), ...hiddenInComments(text), ...unread];
  const hidden = [...found, ...hiddenByValue(text, found, secrets)].toSorted((a, b) => a.offset - b.offset);
  const word = freeWord(text);
  const parts: MaskedText["secrets"][number][] = [];
  let masked = "";
  let from = 0;
  for (const { offset, length, isValue } of hidden) {
    if (offset < from) continue;
    const name = `(${word} ${parts.length + 1})`;
    const placeholder = isValue ? JSON.stringify(name) : name;
    parts.push({ placeholder, written: text.slice(offset, offset + length) });
    masked += text.slice(from, offset) + placeholder;
    from = offset + length;
  }
  return { text: masked + text.slice(from), word, secrets: parts };
}

/** A word that no text of the file looks like. */
function freeWord(text: string): string {
  let word = "hidden secret";
  while (text.includes(`(${word} `)) word = `${word}_`;
  return word;
}

/**
 * Puts the secrets back into an edited text; `values` as for `maskText`. Throws `config_invalid` if a placeholder is
 * unknown, occurs twice, or is in a place where its secret would be shown.
 */
export function unmaskText(
  edited: string,
  { secrets, text, word }: MaskedText,
  { schema, values }: { readonly schema: SchemaNode; readonly values: Iterable<string> },
): string {
  const used = new Set<string>();
  const restored = edited.replace(new RegExp(`"?\\(${word} \\d+\\)"?`, "g"), (placeholder) => {
    const found = secrets.find((one) => one.placeholder === placeholder);
    if (found === undefined || used.has(placeholder)) throw misplaced(placeholder);
    used.add(placeholder);
    return found.written;
  });
  const shown = maskText(restored, schema, values).text;
  const count = (inside: string, part: string) => inside.split(part).length;
  const moved = secrets.find(
    ({ placeholder, written }) => used.has(placeholder) && count(shown, written) > count(text, written),
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

/** Values that the schema or the name of their key marks. A reference to a variable or a file is no secret. */
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
