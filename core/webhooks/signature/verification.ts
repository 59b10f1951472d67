/** Verifies one request: its signature, how recent it is, and how to recognize a repetition. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { readMember } from "./challenge.ts";
import type { SignatureScheme, SignatureSettings } from "./schemes.ts";
import { type HeaderFormat, passesOver } from "./signature-header.ts";
import { judgeAge, judgeMember, type TimeFault } from "./signature-time.ts";
import { publicUrls, type SignedText, signedForm } from "./signed-text.ts";
import { decodeSignature, type SignedPart, type SigningKey } from "./signing-key.ts";
import type { SignatureFault, SignedRequest, Unverified, Verdict } from "./verdict.ts";

export const defaultToleranceSeconds = 300;

export interface SecretKey {
  readonly key: SigningKey;
  readonly signer: string;
}

export const refuse = (fault: SignatureFault, reason: string): Unverified => ({ ok: false, fault, reason });

interface Check {
  readonly scheme: SignatureScheme;
  readonly format: HeaderFormat;
  readonly text: SignedText;
  readonly keys: readonly SecretKey[];
}

export function createCheck(
  { scheme, format, text, keys }: Check,
  settings: SignatureSettings,
): (request: SignedRequest) => Verdict {
  const tolerance = settings.toleranceSeconds ?? defaultToleranceSeconds;
  const renamed: SignatureScheme = { ...scheme, ...scheme.otherNames };
  const timeFormat = scheme.timeFormat ?? "seconds";
  return (request) => {
    const { headers, body, now, url, method = "POST" } = request;
    const used = headers[scheme.header] === undefined && headers[renamed.header] !== undefined ? renamed : scheme;
    const value = headers[used.header];
    if (typeof value !== "string" || value === "") return refuse("missing", `the header ${used.header} is missing`);
    const parts = format.read(value);
    if (parts === undefined) return refuse("wrong", `the header ${used.header} is malformed, or was sent twice`);
    const { signatures, timestamp = timestampIn(headers, used) } = parts;
    if (timestamp === "") return refuse("missing", "the time of the signature is missing");
    const stale = timestamp === undefined ? undefined : judgeAge(timestamp, { now, tolerance, format: timeFormat });
    if (stale !== undefined) return refuseTime(stale, settings);
    const id = text.uses.has("id") ? idIn(parts.id ?? headers[used.idHeader ?? ""]) : "";
    if (id === undefined || (text.behindId !== "" && id.includes(text.behindId)))
      return refuse(
        "missing",
        `the id${used.idHeader === undefined ? "" : ` in the header ${used.idHeader}`} is missing, or is not an id`,
      );
    const form = text.uses.has("form") ? signedForm(body, url) : "";
    if (form === undefined)
      return refuse("wrong", "the body does not match the digest in the address, or has too many fields");
    const urls = text.uses.has("url") ? publicUrls(request, settings.url) : [""];
    const texts = urls.map((address) =>
      text.render({ body, timestamp: timestamp ?? "", id, method, url: address, form }),
    );
    const found = findSigned(texts, keys, { signatures, scheme: used });
    if ("reason" in found) return refuse(found.fault, found.reason);
    const { signer, signed } = found;
    const staleMember = judgeMember(scheme, { body, now, tolerance });
    if (staleMember !== undefined) return refuseTime(staleMember, settings);
    const deliveryId = identify(scheme, { headers, body, id, signed });
    return deliveryId === undefined ? { ok: true, signer } : { ok: true, signer, deliveryId };
  };
}

function timestampIn(headers: IncomingHttpHeaders, { timestamp }: SignatureScheme): string | undefined {
  if (timestamp === undefined || !("header" in timestamp)) return undefined;
  const value = headers[timestamp.header];
  return typeof value === "string" ? value : "";
}

function refuseTime({ reason, format }: TimeFault, { scheme }: SignatureSettings): Unverified {
  if (format === undefined) return refuse("old", reason);
  if (scheme !== "hmac" && scheme !== "public-key")
    return { ...refuse("wrong", reason), hint: `Check that the sender uses ${scheme}.` };
  return { ...refuse("wrong", reason), hint: `Set it to ${JSON.stringify(format)}.`, setting: "timestampFormat" };
}

interface Found {
  readonly signed: readonly SignedPart[];
  readonly signer: string;
}

/**
 * Finds the text that was signed, or the reason why there is none. Every key checks every signature, so that the time
 * taken does not reveal which one matches.
 */
function findSigned(
  texts: readonly (readonly SignedPart[])[],
  keys: readonly SecretKey[],
  { signatures: given, scheme }: { readonly signatures: readonly string[]; readonly scheme: SignatureScheme },
): Found | { readonly fault: SignatureFault; readonly reason: string } {
  let found: Found | undefined;
  let presented = 0;
  for (const { key, signer } of keys) {
    const signatures: Buffer[] = [];
    for (const item of given) {
      if (!item.startsWith(key.prefix)) continue;
      const signature = decodeSignature(item.slice(key.prefix.length), scheme, key);
      if (signature !== undefined) signatures.push(signature);
      else if (!passesOver(scheme))
        return { fault: "wrong", reason: `the header ${scheme.header} contains something that is not a signature` };
    }
    presented += signatures.length;
    for (const signed of texts) if (key.matches(signed, signatures)) found = { signed, signer };
  }
  if (found !== undefined) return found;
  return presented === 0
    ? { fault: "missing", reason: `the header ${scheme.header} contains no signature of this scheme` }
    : { fault: "wrong", reason: "the signature does not match: another secret, or another body" };
}

/** Only visible characters are accepted, so that two headers joined by Node are not an id. */
const idIn = (value: unknown): string | undefined => (typeof value === "string" && isName(value) ? value : undefined);

export const isName = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

function identify(
  { delivery }: SignatureScheme,
  {
    headers,
    body,
    id,
    signed,
  }: {
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
    readonly id: string;
    readonly signed: readonly SignedPart[];
  },
): string | undefined {
  if (delivery.signedId === true) return id;
  const named = delivery.header === undefined ? undefined : idIn(headers[delivery.header]);
  if (named !== undefined) return named;
  const member = delivery.member === undefined ? undefined : idIn(readMember(body, delivery.member));
  if (member !== undefined) return member;
  const without = delivery.without === undefined ? undefined : readMember(body, []);
  if (typeof without === "object" && without !== null) {
    return digestOf([JSON.stringify({ ...without, [delivery.without ?? ""]: undefined })]);
  }
  if (delivery.digest === undefined) return undefined;
  return digestOf(delivery.digest === "body" ? [body] : signed);
}

function digestOf(parts: readonly SignedPart[]): string {
  const bytes = parts.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part));
  return `sha256:${hash("sha256", Buffer.concat(bytes))}`;
}
