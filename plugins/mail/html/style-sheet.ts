/** The rules of the `<style>` elements of a mail, and which of them apply to an element. */
import { type Declaration, parseDeclarations, splitOutside, withoutComments } from "./declarations.ts";

/** What selectors look at. Names are in lower case. */
export interface Styled {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Styled | undefined;
}

interface Compound {
  readonly name?: string;
  readonly id?: string;
  readonly classes: readonly string[];
  readonly attributes: readonly { readonly name: string; readonly value?: string }[];
  /** Whether the compound before must match the parent, rather than any ancestor. */
  readonly isChild: boolean;
}

export interface Rule {
  /** In the order of the selector. */
  readonly compounds: readonly Compound[];
  readonly specificity: number;
  readonly order: number;
  readonly declarations: readonly Declaration[];
}

const maxSheet = 65_536;
const maxRules = 400;
/** Comparisons for one mail. A sheet made to cost more than that stops having an effect. */
const maxComparisons = 60_000;

export interface StyleSheet {
  rulesFor(element: Styled): readonly Rule[];
}

/** `relevant` names the properties that matter; rules without any of them are left out. */
export function parseStyleSheet(text: string, relevant: ReadonlySet<string>): StyleSheet {
  const rules: Rule[] = [];
  addRules(withoutComments(text.slice(0, maxSheet).replace(/<!--|-->/g, "")));
  const byKey = Map.groupBy(rules, ({ compounds }) => keyOf(compounds.at(-1)));
  let comparisons = 0;

  function addRules(sheet: string): void {
    for (const { head, body } of blocksOf(sheet)) {
      if (rules.length >= maxRules) return;
      if (head.startsWith("@")) {
        // Rules for narrow windows, printers and the like do not say what a reader sees.
        if (/^@(?:media\s*(?:all|(?:only\s+)?screen)?|layer[^;]*)$/i.test(head)) addRules(body);
        continue;
      }
      const declarations = parseDeclarations(body).filter(({ name }) => relevant.has(name));
      if (declarations.length === 0) continue;
      for (const selector of splitOutside(head, ",").slice(0, 20)) {
        const compounds = parseSelector(selector.trim().toLowerCase());
        if (compounds !== undefined)
          rules.push({ compounds, specificity: specificityOf(compounds), order: rules.length, declarations });
      }
    }
  }

  function matches(element: Styled, compounds: readonly Compound[], last: number): boolean {
    comparisons += 1;
    if (comparisons > maxComparisons || !fits(element, compounds[last])) return false;
    if (last === 0) return true;
    if (compounds[last]?.isChild === true)
      return element.parent !== undefined && matches(element.parent, compounds, last - 1);
    for (let above = element.parent; above !== undefined; above = above.parent) {
      if (comparisons > maxComparisons) return false;
      if (matches(above, compounds, last - 1)) return true;
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

const compound =
  /^(?:([a-z][\w-]*|\*)|#([\w\u0080-\uffff-]+)|\.([\w\u0080-\uffff-]+)|\[\s*([\w-]+)\s*(?:=\s*["']?([^"'\]]*)["']?\s*)?\])/;
const maxCompounds = 8;

/** `undefined` for a selector with anything else, such as a state, a pseudo element or a sibling. */
function parseSelector(selector: string): readonly Compound[] | undefined {
  const compounds: Compound[] = [];
  let rest = selector;
  let isChild = false;
  while (rest !== "") {
    const found = { classes: [] as string[], attributes: [] as { name: string; value?: string }[] } as {
      name?: string;
      id?: string;
      classes: string[];
      attributes: { name: string; value?: string }[];
    };
    let isEmpty = true;
    for (let part = compound.exec(rest); part !== null; part = compound.exec(rest)) {
      const [whole, name, id, ofClass, attribute, value] = part;
      if (name !== undefined && name !== "*") found.name = name;
      if (id !== undefined) found.id = id;
      if (ofClass !== undefined) found.classes.push(ofClass);
      if (attribute !== undefined) found.attributes.push({ name: attribute, value });
      rest = rest.slice(whole.length);
      isEmpty = false;
    }
    if (isEmpty || compounds.length === maxCompounds) return undefined;
    compounds.push({ ...found, isChild });
    const combinator = /^\s*(>)?\s*/.exec(rest);
    if (rest !== "" && combinator?.[0] === "") return undefined;
    isChild = combinator?.[1] !== undefined;
    rest = rest.slice(combinator?.[0].length ?? 0);
  }
  return compounds.length === 0 ? undefined : compounds;
}

const keyOf = (last: Compound | undefined): string =>
  last?.id !== undefined ? `#${last.id}` : last?.classes[0] !== undefined ? `.${last.classes[0]}` : (last?.name ?? "*");

const specificityOf = (compounds: readonly Compound[]): number =>
  compounds.reduce(
    (sum, { id, classes, attributes, name }) =>
      sum + (id === undefined ? 0 : 10_000) + (classes.length + attributes.length) * 100 + (name === undefined ? 0 : 1),
    0,
  );

function fits(element: Styled, wanted: Compound | undefined): boolean {
  if (wanted === undefined) return false;
  const { name, id, classes, attributes } = wanted;
  return (
    (name === undefined || name === element.name) &&
    (id === undefined || id === element.id) &&
    classes.every((one) => element.classes.includes(one)) &&
    attributes.every((one) => {
      const has = element.attributes[one.name];
      return has !== undefined && (one.value === undefined || has.toLowerCase() === one.value);
    })
  );
}
