/**
 * Whether a mail's sender is genuine. `From` is free text: only the receiving server can verify it, in
 * `Authentication-Results` (RFC 8601), and only if the server's name is known.
 */
import type { HiddenText } from "./html/visible-html.ts";
import type { Header, Mail } from "./source.ts";

export interface Verdict {
  readonly result: "pass" | "fail" | "none";
  /** The domain of the address in `From`; absent if that is not a single address. */
  readonly domain?: string;
  /** The server that states it. */
  readonly by?: string;
}

interface Method {
  readonly name: string;
  readonly result: string;
  /** Such as `header.d`, in lower case. */
  readonly properties: ReadonlyMap<string, string>;
}

/** No server writes more than this about one mail. */
const maxField = 16_384;
/** A mail never passes more servers than this. */
const maxResults = 50;

export function judgeSender(
  { headers, from }: Pick<Mail, "headers" | "from">,
  authservIds: readonly string[],
): Verdict {
  const domain = domainOf(headers, from);
  if (domain === undefined) return { result: "none" };
  const known = authservIds.map((id) => id.toLowerCase());
  // A server writes its own result above those that the mail already had.
  for (const { value } of headers.filter(({ name }) => name === "authentication-results").slice(0, maxResults)) {
    const { by, methods } = readResults(value.slice(0, maxField));
    if (!known.includes(by)) continue;
    if (value.length > maxField) return { result: "none", domain };
    const dmarc = methods.filter((method) => method.name === "dmarc");
    if (dmarc.some(({ result }) => result === "fail")) return { result: "fail", domain, by };
    const passed = dmarc.some(
      ({ result, properties }) => result === "pass" && (properties.get("header.from") ?? domain) === domain,
    );
    const signed = methods.some(
      (method) => method.name === "dkim" && method.result === "pass" && isAligned(signerOf(method), domain),
    );
    return passed || signed ? { result: "pass", domain, by } : { result: "none", domain };
  }
  return { result: "none", domain };
}

/**
 * The line about the mail that the agent reads before it: who vouches for the sender, and what a reader of the mail
 * does not see.
 */
export function describeMail(
  { result, domain, by }: Verdict,
  { automated, hidden }: { readonly automated: false | string; readonly hidden: HiddenText | undefined },
): string {
  const sender =
    result === "pass"
      ? `The mail server ${by} has verified that this mail comes from ${domain}.`
      : result === "fail"
        ? `The mail server ${by} says that the sender's address is forged.`
        : "The sender of this mail is not verified: the address may be forged.";
  const program = automated === false ? "" : ` A program sent it (${automated}).`;
  return `${sender}${program}${hidden === undefined ? "" : ` ${describeHidden(hidden)}`}`;
}

/** A preview line is common and means nothing; other hidden text may be meant for programs that read mail. */
function describeHidden({ characters, isPreview }: HiddenText): string {
  return isPreview
    ? "It has a hidden preview line, as newsletters do, which was left out."
    : `Its HTML hides text from the reader (${characters} characters), which was left out.`;
}

function domainOf(headers: readonly Header[], from: Mail["from"]): string | undefined {
  const fields = headers.filter(({ name }) => name === "from");
  const [field, another] = fields;
  const [sender, other] = from;
  if (
    field === undefined ||
    field.value.length > maxField ||
    another !== undefined ||
    sender?.address === undefined ||
    other !== undefined
  )
    return undefined;
  // A single address has no comma, and a group has a colon.
  const bare = withoutQuotes(withoutComments(field.value));
  const address = /^[^<>,:;@]*<\s*[^<>,:;@\s]+@([a-z0-9.-]+)\s*>\s*$|^\s*[^<>,:;@\s]+@([a-z0-9.-]+)\s*$/i.exec(bare);
  const domain = (address?.[1] ?? address?.[2])?.toLowerCase();
  return domain !== undefined && sender.address.toLowerCase().endsWith(`@${domain}`) ? domain : undefined;
}

/**
 * A quote that nothing closes stays, with all that follows: a pattern without that end would read the rest again from
 * each quote in it.
 */
function withoutQuotes(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.?)*("?)/gs, (quoted, close) => (close === "" ? quoted : ""));
}

function signerOf({ properties }: Method): string | undefined {
  const identity = properties.get("header.i");
  return properties.get("header.d") ?? identity?.slice(identity.lastIndexOf("@") + 1);
}

/** The signing domain is the sender's, or a parent of it. */
function isAligned(signer: string | undefined, domain: string): boolean {
  return signer?.includes(".") === true && (signer === domain || domain.endsWith(`.${signer}`));
}

/** RFC 8601, 2.2: a name, then results with their properties, separated by semicolons. */
function readResults(value: string): { readonly by: string; readonly methods: readonly Method[] } {
  const [first = [], ...rest] = sentencesOf(withoutComments(value));
  const methods = rest.flatMap((words): readonly Method[] => {
    const pairs = words.map((word) => /^([^=]+)=(.*)$/s.exec(word));
    const [method] = pairs;
    if (method === undefined || method === null) return [];
    const properties = new Map<string, string>();
    for (const pair of pairs.slice(1)) {
      const name = pair?.[1]?.toLowerCase();
      // If a property occurs twice, the first one applies.
      if (name !== undefined && !properties.has(name)) properties.set(name, (pair?.[2] ?? "").toLowerCase());
    }
    const name = (method[1] ?? "").toLowerCase().replace(/\/\d+$/, "");
    return [{ name, result: (method[2] ?? "").toLowerCase(), properties }];
  });
  return { by: (first[0] ?? "").toLowerCase(), methods };
}

/** The words of each sentence; a quoted text is a part of its word, whatever it contains. */
function sentencesOf(text: string): readonly (readonly string[])[] {
  const sentences: string[][] = [[]];
  let word = "";
  let quoted = false;
  const end = (): void => {
    if (word !== "") sentences.at(-1)?.push(word);
    word = "";
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (quoted && character === "\\") {
      word += text[at + 1] ?? "";
      at += 1;
    } else if (character === '"') quoted = !quoted;
    else if (quoted) word += character;
    else if (character === ";") {
      end();
      sentences.push([]);
    } else if (/\s/.test(character)) end();
    else word += character;
  }
  end();
  return sentences;
}

/** Comments nest, and do not begin inside quotes. */
function withoutComments(text: string): string {
  let rest = "";
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if ((quoted || depth > 0) && character === "\\") {
      if (depth === 0) rest += character + (text[at + 1] ?? "");
      at += 1;
    } else if (character === '"' && depth === 0) {
      quoted = !quoted;
      rest += character;
    } else if (character === "(" && !quoted) depth += 1;
    else if (character === ")" && depth > 0) depth -= 1;
    else if (depth === 0) rest += character;
  }
  return rest.replace(/\s+/g, " ").replace(/ ?= ?/g, "=");
}
