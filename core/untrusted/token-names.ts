/** Names of control tokens, without spaces, hyphens and underscores. */

/** Unambiguous names, which count in any kind of bracket. */
const special =
  "imstart imend startofturn endofturn startofimage endofimage beginoftext endoftext eotid eomid " +
  "startheaderid endheaderid startofrole endofrole pythontag endofsentence beginofsentence eostoken " +
  "bostoken externaluntrustedcontent endexternaluntrustedcontent";
const tools =
  "toolcall toolcalls tooluse tooluses toolresponse toolresult toolresults tooloutput toolcontent " +
  "availabletools functioncall functioncalls functionresult functionresults functionresponse";
const roles = "system assistant systemprompt systemmessage";
const people = "user human tool developer";
const short = "s bos eos pad unk sys inst mask cls sep think thinking invoke";
const invoked = "parameter function";
const square =
  "inst sys bos eos think toolcalls toolcontent toolresults availabletools callid args systemprompt " +
  "systemmessage system assistant internal";
/** Numbered tokens that vocabularies reserve. */
const reserved = /^(?:unused\d{1,4}|reservedspecialtoken\d{1,4}|extraid\d{1,4})$/;

/** Length of the longest name. */
export const longestName = 27;

const setOf = (...lists: readonly string[]): ReadonlySet<string> => new Set(lists.flatMap((list) => list.split(" ")));

const specialWords = setOf(special);
const toolWords = setOf(tools);
const angleWords = setOf(special, tools, roles, people, short);
const squareWords = setOf(square);
const anyAttribute = setOf(special, tools, roles, "think thinking sys inst invoke");
const withAttributes = setOf(people, invoked);

const codeOfA = 97;

/** A table by the first two letters: whether any of the names begins with them. */
function beginningsOf(names: ReadonlySet<string>): Uint8Array {
  const beginnings = new Uint8Array(26 * 26);
  for (const name of names) {
    const second = name.length > 1 ? [name.charCodeAt(1)] : Array.from({ length: 26 }, (_, letter) => codeOfA + letter);
    for (const code of second) beginnings[(name.charCodeAt(0) - codeOfA) * 26 + code - codeOfA] = 1;
  }
  return beginnings;
}

const numbered = "unused reserved extraid";
const inAngles = beginningsOf(setOf(special, tools, roles, people, short, invoked, numbered));
const inOthers = beginningsOf(setOf(special, tools, square));

/**
 * Whether a name in such brackets may begin with these two letter codes. For a one-letter name, pass the letter twice.
 */
export function mayBeginName(first: number, second: number, brackets: "angle" | "other"): boolean {
  return (brackets === "angle" ? inAngles : inOthers)[(first - codeOfA) * 26 + second - codeOfA] === 1;
}

export const isSpecialWord = (name: string): boolean => specialWords.has(name);
export const isToolWord = (name: string): boolean => toolWords.has(name);
/** Whether the name is a token as the whole content of angle brackets. */
export const isTokenName = (name: string): boolean => angleWords.has(name);
export const isReserved = (name: string): boolean => /^[urxe]/.test(name) && reserved.test(name);
export const isSquareWord = (name: string): boolean => squareWords.has(name) || toolWords.has(name);
/** Whether a tag with this name is a template tag, whatever follows the name. */
export const takesAnyAttribute = (name: string): boolean => anyAttribute.has(name);
/**
 * Whether a tag with this name is a template tag if it has attribute values. Otherwise it may be a placeholder, such as
 * `<user name>`.
 */
export const takesAttributes = (name: string): boolean => withAttributes.has(name);
