/** Selectors of style sheets, as far as they can be judged while a mail is read from its beginning. */
import { splitOutside, unescaped } from "./declarations.ts";

/** What selectors look at. Names are in lower case. */
export interface Styled {
  readonly name: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Styled | undefined;
  /** The element before it with the same parent. */
  readonly previous: Styled | undefined;
  /** Its place among the elements of its parent; 1 is the first. */
  readonly place: number;
}

type Test = (element: Styled) => boolean;

export interface Compound {
  readonly name?: string;
  readonly id?: string;
  readonly classes: readonly string[];
  /** Attributes and pseudo classes. */
  readonly tests: readonly Test[];
  /** How it relates to the compound before it. */
  readonly combinator: " " | ">" | "+" | "~";
}

const simple =
  /^(?:([a-z][\w-]*|\*)|#([\w\u0080-\uffff-]+)|\.([\w\u0080-\uffff-]+)|\[\s*([\w-]+)\s*(?:([~|^$*]?)=\s*["']?([^"'\]]*)["']?\s*(?:[is]\s*)?)?\]|:(root|first-child)|:(not|is|where|matches|-webkit-any)\(([^()]{1,300})\)|:nth-child\(\s*(odd|even|\d{1,4})\s*\))/;
const maxCompounds = 8;

function attributeTest(name: string, operator: string, value: string | undefined): Test {
  return ({ attributes }) => {
    const has = attributes[name]?.toLowerCase();
    if (has === undefined || value === undefined) return has !== undefined;
    const wanted = value.trimEnd();
    if (operator === "") return has === wanted;
    if (wanted === "") return false;
    if (operator === "~") return has.split(/\s+/).includes(wanted);
    if (operator === "|") return has === wanted || has.startsWith(`${wanted}-`);
    if (operator === "^") return has.startsWith(wanted);
    return operator === "$" ? has.endsWith(wanted) : has.includes(wanted);
  };
}

/** `:not(.a, b)` and `:is(.a, b)`. `undefined` if one of the selectors in it cannot be judged. */
function listTest(isNot: boolean, inside: string): Test | undefined {
  const compounds = splitOutside(inside, ",").map((one) => parseSelector(one.trim()));
  if (compounds.some((one) => one?.length !== 1)) return undefined;
  return (element) => compounds.some((one) => fits(element, one?.[0])) !== isNot;
}

function placeTest(text: string): Test {
  if (text === "odd" || text === "even") return ({ place }) => place % 2 === (text === "odd" ? 1 : 0);
  return ({ place }) => place === Number(text);
}

interface Read {
  name?: string;
  id?: string;
  readonly classes: string[];
  readonly tests: Test[];
}

/** Reads a simple selector into the compound. `false`: it cannot be judged. */
function take(
  found: Read,
  [, name, id, ofClass, attribute, operator = "", value, pseudo, list, inside = "", nth]: readonly (
    | string
    | undefined
  )[],
): boolean {
  if (name !== undefined && name !== "*") found.name = name;
  if (id !== undefined) found.id = id;
  if (ofClass !== undefined) found.classes.push(ofClass);
  if (attribute !== undefined) found.tests.push(attributeTest(attribute, operator, value));
  if (pseudo !== undefined)
    found.tests.push(pseudo === "root" ? ({ parent }) => parent === undefined : ({ place }) => place === 1);
  if (nth !== undefined) found.tests.push(placeTest(nth));
  const test = list === undefined ? undefined : listTest(list === "not", inside);
  if (test !== undefined) found.tests.push(test);
  return list === undefined || test !== undefined;
}

/** `undefined` for a selector with anything else, such as a state or a pseudo element. */
export function parseSelector(selector: string): readonly Compound[] | undefined {
  const compounds: Compound[] = [];
  let rest = unescaped(selector).toLowerCase();
  let combinator: Compound["combinator"] = " ";
  while (rest !== "") {
    const found: Read = { classes: [], tests: [] };
    let isEmpty = true;
    for (let part = simple.exec(rest); part !== null; part = simple.exec(rest)) {
      if (!take(found, part)) return undefined;
      rest = rest.slice(part[0].length);
      isEmpty = false;
    }
    if (isEmpty || compounds.length === maxCompounds) return undefined;
    compounds.push({ ...found, combinator });
    const [space, sign] = /^\s*([>+~])?\s*/.exec(rest) ?? [""];
    if (rest !== "" && space === "") return undefined;
    combinator = sign === undefined ? " " : (sign as Compound["combinator"]);
    rest = rest.slice(space.length);
  }
  return compounds.length === 0 ? undefined : compounds;
}

export const keyOf = (last: Compound | undefined): string =>
  last?.id !== undefined ? `#${last.id}` : last?.classes[0] !== undefined ? `.${last.classes[0]}` : (last?.name ?? "*");

export const specificityOf = (compounds: readonly Compound[]): number =>
  compounds.reduce(
    (sum, { id, classes, tests, name }) =>
      sum + (id === undefined ? 0 : 10_000) + (classes.length + tests.length) * 100 + (name === undefined ? 0 : 1),
    0,
  );

export function fits(element: Styled, wanted: Compound | undefined): boolean {
  if (wanted === undefined) return false;
  const { name, id, classes, tests } = wanted;
  return (
    (name === undefined || name === element.name) &&
    (id === undefined || id === element.id) &&
    classes.every((one) => element.classes.includes(one)) &&
    tests.every((test) => test(element))
  );
}
