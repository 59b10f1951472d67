/**
 * Checks senders that do not sign but send the secret itself: in a header, as a password or token, or in each element
 * of the body, or in the query.
 */
import { hash } from "node:crypto";
import { createTokenCheck, presentedToken } from "../../http/index.ts";
import { readMember } from "./challenge.ts";
import type { SignatureScheme } from "./schemes.ts";
import { type Sign, SigningError, withMembers } from "./signing.ts";
import type { SignedRequest, Verdict } from "./verdict.ts";

/** Identifies a secret without revealing it. */
export const signerOf = (secret: string): string => hash("sha256", secret);

export function createSharedCheck(
  scheme: SignatureScheme,
  secrets: readonly string[],
  user = "",
): (request: SignedRequest) => Verdict {
  const checks = secrets.map((secret) => {
    const isSecret = createTokenCheck();
    const expected = scheme.carrier === "basic" ? `${user}:${secret}` : secret;
    return { signer: signerOf(secret), fits: (presented: string) => isSecret(presented, expected) };
  });
  const what = carrierOf(scheme);
  return (request) => {
    const presented = presentedBy(scheme, request);
    if (presented.length === 0) return { ok: false, fault: "missing", reason: `${what} is missing` };
    // Each element of the body contains the secret. An element without it comes from another sender.
    const signer = checks.filter(({ fits }) => presented.every(fits)).at(-1)?.signer;
    if (signer === undefined) return { ok: false, fault: "wrong", reason: `${what} does not contain the secret` };
    const id = scheme.delivery.header === undefined ? undefined : request.headers[scheme.delivery.header];
    if (typeof id !== "string" || !/^[\x21-\x7e]{1,256}$/.test(id)) return { ok: true, signer };
    // Nothing is signed, so the same id with another body may be another event.
    return { ok: true, signer, deliveryId: `${id} sha256:${hash("sha256", request.body)}` };
  };
}

function carrierOf({ carrier, header, parameter }: SignatureScheme): string {
  if (carrier === "client-state") return "the field clientState";
  return carrier === "query" ? `the parameter ${parameter} of the address` : `the header ${header}`;
}

/** Presents the first secret as `createSharedCheck` expects it. */
export function createSharedSigner(
  { carrier, header, prefix, parameter = "" }: SignatureScheme,
  [secret = ""]: readonly string[],
  user = "",
): Sign {
  // Each character of a header is one byte.
  const bytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
  return ({ body }) => {
    if (carrier === "client-state")
      return { headers: {}, body: withMembers(body, (root) => withClientState(root, secret)) };
    if (carrier === "query") return { headers: {}, body, query: { [parameter]: secret } };
    if (carrier === "token") return { headers: { [header]: `Bearer ${bytes(secret)}` }, body };
    if (carrier === "basic")
      return { headers: { [header]: `Basic ${Buffer.from(`${user}:${secret}`).toString("base64")}` }, body };
    return { headers: { [header]: `${prefix}${bytes(secret)}` }, body };
  };
}

function withClientState(root: Readonly<Record<string, unknown>>, secret: string): Readonly<Record<string, unknown>> {
  const { value } = root;
  const isObject = (element: unknown): element is object =>
    typeof element === "object" && element !== null && !Array.isArray(element);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject))
    throw new SigningError("this scheme needs a payload with a list of objects in the field value");
  return { ...root, value: value.map((element) => ({ ...element, clientState: secret })) };
}

/** The presented values with one character for each byte, like headers. */
function presentedBy(
  { carrier, header, prefix, parameter }: SignatureScheme,
  { headers, body, url }: SignedRequest,
): readonly string[] {
  if (carrier === "query") return parametersOf(url, parameter);
  if (carrier === "token") return listOf(presentedToken(headers));
  if (carrier === "client-state") return clientStates(body);
  const value = headers[header];
  if (typeof value !== "string" || value === "") return [];
  if (carrier !== "basic") return value.startsWith(prefix) ? [value.slice(prefix.length)] : [""];
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(value)?.[1];
  return [encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("latin1")];
}

/** A parameter that occurs twice is ambiguous: a proxy may have checked the other one. */
function parametersOf(url: string, name = ""): readonly string[] {
  const mark = url.indexOf("?");
  const values = mark === -1 ? [] : new URLSearchParams(url.slice(mark)).getAll(name);
  return values.map((value) => (values.length === 1 ? Buffer.from(value, "utf8").toString("latin1") : ""));
}

const listOf = (text: string | undefined): readonly string[] => (text === undefined ? [] : [text]);

function clientStates(body: Buffer): readonly string[] {
  const value = readMember(body, ["value"]);
  if (!Array.isArray(value)) return [];
  return value.map((element: unknown) => {
    const state =
      typeof element === "object" && element !== null
        ? (element as { readonly clientState?: unknown }).clientState
        : undefined;
    return typeof state === "string" ? Buffer.from(state, "utf8").toString("latin1") : "";
  });
}
