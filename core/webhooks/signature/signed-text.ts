/** Reconstructs, byte for byte, the text that a sender has signed from literal text and parts of the request. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SignedPart } from "./signing-key.ts";

const variables = ["body", "timestamp", "id", "method", "url", "form"] as const;
export type SignedVariable = (typeof variables)[number];

export interface SignedText {
  readonly uses: ReadonlySet<SignedVariable>;
  /**
   * What ends the id: the text after {id}, which an id must not contain, or the time, whose form and freshness fix
   * where it begins. Without either, the signed text could be split elsewhere.
   */
  readonly behindId: string;
  readonly idIsEnded: boolean;
  render(values: Readonly<Partial<Record<SignedVariable, SignedPart>>>): readonly SignedPart[];
}

/** Compiles a template. Throws an `Error` that says what is wrong with it. */
export function compileSignedText(text: string): SignedText {
  const parts = text.split(/(\{[^{}]*\})/).filter((part) => part !== "");
  const nameOf = (part: string): SignedVariable | undefined => variables.find((name) => part === `{${name}}`);
  const odd = parts.find((part) => /[{}]/.test(part) && nameOf(part) === undefined);
  if (odd !== undefined)
    throw new Error(`contains ${odd}, which is none of {body}, {timestamp}, {id}, {method} and {url}`);
  const atId = parts.indexOf("{id}");
  const behind = atId === -1 ? "" : (parts[atId + 1] ?? "");
  return {
    uses: new Set(parts.map(nameOf).filter((name) => name !== undefined)),
    behindId: nameOf(behind) === undefined ? behind : "",
    idIsEnded: behind !== "" && (nameOf(behind) === undefined || nameOf(behind) === "timestamp"),
    render: (values) =>
      parts.map((part) => {
        const name = nameOf(part);
        return name === undefined ? part : (values[name] ?? "");
      }),
  };
}

/** Throws an `Error` if `url` is not the public URL of a hook. */
export function checkPublicUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const plain =
    parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.username === "" && parsed.password === "";
  if (!plain || /[?#\s]/.test(url))
    throw new Error("must be an http or https address without query, as the sender uses it");
}

/**
 * The URLs under which the sender may know this hook. Without a configured one, they are derived from the request. Only
 * the proxy knows whether the connection used https, so both are tried. Some senders sign a default port and some omit
 * it.
 */
export function publicUrls(
  request: { readonly headers: IncomingHttpHeaders; readonly url: string },
  configured?: string,
): readonly string[] {
  const mark = request.url.indexOf("?");
  const query = mark === -1 ? "" : request.url.slice(mark);
  const { host } = request.headers;
  if (configured === undefined && (host === undefined || !/^[\w.:[\]-]{1,255}$/.test(host))) return [];
  const bases =
    configured === undefined
      ? ["https", "http"].map((scheme) => `${scheme}://${host}${request.url}`)
      : [configured + query];
  return bases.flatMap((base) => {
    const [, origin = "", rest = ""] = /^(https?:\/\/[^/?]*)(.*)$/.exec(base) ?? [];
    if (/:[0-9]+$/.test(origin)) return [base, origin.replace(/:[0-9]+$/, "") + rest];
    return [base, `${origin}${origin.startsWith("https") ? ":443" : ":80"}${rest}`];
  });
}

const maxFields = 1_000;

/**
 * A form as it is signed: the names in order, each followed by its values, without separators. Other bodies are signed
 * by a digest in the URL; then this is empty. `undefined` if the body does not match the URL's digest or has too many
 * fields.
 */
export function signedForm(body: Buffer, url: string): string | undefined {
  const mark = url.indexOf("?");
  const digests = mark === -1 ? [] : new URLSearchParams(url.slice(mark + 1)).getAll("bodySHA256");
  if (digests.length > 0) return digests.length === 1 && digests[0] === hash("sha256", body) ? "" : undefined;
  const fields = new URLSearchParams(body.toString("utf8"));
  if (fields.size > maxFields) return undefined;
  return [...new Set(fields.keys())]
    .sort()
    .map((name) =>
      [...new Set(fields.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}
