/** The rules of the `<style>` elements of a mail, and which of them apply to an element. */

import { appliesToScreens, isSupported } from "./at-rules.ts";
import { type Declaration, parseDeclarations, splitOutside, withoutComments } from "./declarations.ts";
import { type Compound, fits, keyOf, parseSelector, type Styled, specificityOf } from "./selectors.ts";

export interface Rule {
  /** In the order of the selector. */
  readonly compounds: readonly Compound[];
  readonly specificity: number;
  readonly order: number;
  readonly declarations: readonly Declaration[];
}

const maxSheet = 65_536;
const maxRules = 400;
const maxDepth = 4;
/** Of a rule, with the rules in it. */
const maxRule = 8_192;
/** Comparisons for one mail. A sheet made to cost more than that stops having an effect. */
const maxComparisons = 60_000;

export interface StyleSheet {
  rulesFor(element: Styled): readonly Rule[];
}

/** `isRelevant` names the properties that matter; rules without any of them are left out. */
export function parseStyleSheet(text: string, isRelevant: (property: string) => boolean): StyleSheet {
  const rules: Rule[] = [];
  addRules(withoutComments(text.slice(0, maxSheet).replace(/<!--|-->/g, "")));
  const byKey = Map.groupBy(rules, ({ compounds }) => keyOf(compounds.at(-1)));
  let comparisons = 0;

  /** `around` has the selectors of the rule in which the blocks stand. */
  function addRules(sheet: string, around: readonly string[] = [], depth = 0): void {
    if (depth > maxDepth) return;
    for (const { head, body } of blocksOf(sheet)) {
      if (rules.length >= maxRules) return;
      if (head.startsWith("@")) {
        // Rules for narrow windows, printers and the like do not say what a reader sees.
        if (appliesToScreens(head) || isSupported(head, isRelevant)) addRules(body, around, depth + 1);
        continue;
      }
      const selectors = splitOutside(head, ",")
        .slice(0, 20)
        .flatMap((one) => within(around, one.trim()));
      const inside = body.slice(0, maxRule);
      addDeclarations(selectors, inside);
      if (inside.includes("{")) addRules(inside, selectors, depth + 1);
    }
  }

  function addDeclarations(selectors: readonly string[], body: string): void {
    const declarations = parseDeclarations(ownOf(body)).filter(({ name }) => isRelevant(name));
    if (declarations.length === 0) return;
    for (const selector of selectors) {
      const compounds = parseSelector(selector);
      if (compounds !== undefined)
        rules.push({ compounds, specificity: specificityOf(compounds), order: rules.length, declarations });
    }
  }

  function matches(element: Styled, compounds: readonly Compound[], last: number): boolean {
    comparisons += 1;
    if (comparisons > maxComparisons || !fits(element, compounds[last])) return false;
    if (last === 0) return true;
    const combinator = compounds[last]?.combinator;
    const isBeside = combinator === "+" || combinator === "~";
    const next = (from: Styled) => (isBeside ? from.previous : from.parent);
    for (let other = next(element); other !== undefined; other = next(other)) {
      if (comparisons > maxComparisons) return false;
      if (matches(other, compounds, last - 1)) return true;
      if (combinator === ">" || combinator === "+") return false;
    }
    return false;
  }

  return {
    rulesFor(element) {
      if (rules.length === 0) return [];
      const keys = [
        element.id === "" ? "" : `#${element.id}`,
        ...element.classes.map((one) => `.${one}`),
        element.name,
        "*",
      ];
      return keys
        .flatMap((key) => byKey.get(key) ?? [])
        .filter(({ compounds }) => matches(element, compounds, compounds.length - 1));
    },
  };
}

/** The selector of a rule in another rule. */
function within(around: readonly string[], selector: string): readonly string[] {
  if (around.length === 0) return [selector];
  return around
    .map((one) => (selector.includes("&") ? selector.replaceAll("&", one) : `${one} ${selector}`))
    .slice(0, 20);
}

/** The declarations of a block, without the rules in it. */
function ownOf(body: string): string {
  if (!body.includes("{")) return body;
  let own = "";
  let depth = 0;
  for (const part of body.split(/(?<=[{}])/)) {
    if (depth === 0) own += part.endsWith("{") ? part.slice(0, part.lastIndexOf(";") + 1) : part.replace(/\}$/, "");
    depth = Math.max(0, depth + (part.endsWith("{") ? 1 : part.endsWith("}") ? -1 : 0));
  }
  return own;
}

interface Block {
  readonly head: string;
  readonly body: string;
}

/** The blocks at the top of a sheet. A block that nothing closes goes on to the end. */
function blocksOf(sheet: string): readonly Block[] {
  const blocks: Block[] = [];
  let start = 0;
  for (let at = 0; at < sheet.length; ) {
    const open = sheet.indexOf("{", at);
    if (open < 0) break;
    let depth = 1;
    let end = open + 1;
    for (; end < sheet.length && depth > 0; end += 1) {
      const code = sheet.charCodeAt(end);
      if (code === 0x7b) depth += 1;
      else if (code === 0x7d) depth -= 1;
    }
    // What stands before the last semicolon is a statement such as `@import`.
    const head = sheet.slice(start, open);
    blocks.push({
      head: head.slice(head.lastIndexOf(";") + 1).trim(),
      body: sheet.slice(open + 1, depth === 0 ? end - 1 : end),
    });
    start = end;
    at = end;
  }
  return blocks;
}
