/** Signs a request as its platform does, so that an operator can test the signature check. */
import { parseExactJson, parseJson } from "../../http/index.ts";
import type { SignatureScheme, SignatureSettings } from "./schemes.ts";
import type { HeaderFormat } from "./signature-header.ts";
import { renderTime } from "./signature-time.ts";
import { publicUrls, type SignedText, signedForm } from "./signed-text.ts";
import type { SigningKey } from "./signing-key.ts";

export interface UnsignedRequest {
  /** Headers by lower-case name, including `host`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Path and query. */
  readonly url: string;
  /** Absent: POST. */
  readonly method?: string;
  readonly now: number;
  /** Creates the delivery's id, if the scheme signs one and the headers have none. */
  readonly newId: () => string;
}

/** The headers to add, and the body, because some schemes put the time or the secret into it. */
export interface SignedParts {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Parameters to add to the address, which contain the secret. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Signs a request. Throws `SigningError`. */
export type Sign = (request: UnsignedRequest) => SignedParts;

/** Why a request cannot be signed. The message has no full stop and never contains the secret. */
export class SigningError extends Error {}

export function createSigner(
  {
    scheme,
    format,
    text,
  }: { readonly scheme: SignatureScheme; readonly format: HeaderFormat; readonly text: SignedText },
  { keys, settings }: { readonly keys: readonly SigningKey[]; readonly settings: SignatureSettings },
): Sign {
  const { header, timestamp: place, idHeader } = scheme;
  return ({ headers, body: given, url, method = "POST", now, newId }) => {
    const key = keys.find(({ sign }) => sign !== undefined);
    if (key?.sign === undefined)
      throw new SigningError("only the platform has the private key; the configuration has the public key");
    const body =
      place !== undefined && "member" in place
        ? withMembers(given, (root) => ({ ...root, [place.member]: now }))
        : given;
    const timestamp = renderTime(now, scheme.timeFormat ?? "seconds");
    const id = (idHeader === undefined ? undefined : headers[idHeader]) ?? newId();
    if (text.uses.has("id") && text.behindId !== "" && id.includes(text.behindId))
      throw new SigningError(`the header ${idHeader} contains ${JSON.stringify(text.behindId)}, which ends the id`);
    const form = text.uses.has("form") ? signedForm(body, url) : "";
    if (form === undefined)
      throw new SigningError("bodySHA256 in the query is not the digest of the body, or the form has too many fields");
    const [address = ""] = text.uses.has("url") ? publicUrls({ headers, url }, settings.url) : [];
    const digest = key.sign(text.render({ body, timestamp, id, method, url: address, form })).toString(scheme.encoding);
    const signature = `${key.prefix}${digest}`;
    return {
      body,
      headers: {
        [header]: format.write({ signature, timestamp, id }),
        ...(place !== undefined && "header" in place ? { [place.header]: timestamp } : {}),
        ...(idHeader === undefined ? {} : { [idHeader]: id }),
      },
    };
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Changes the members of a JSON object. Numbers keep their digits. */
export function withMembers(body: Buffer, change: (root: Members) => Members): Buffer {
  let root: unknown;
  try {
    root = parseJson(body, parseExactJson);
  } catch {
    root = undefined;
  }
  if (typeof root !== "object" || root === null || Array.isArray(root))
    throw new SigningError("this scheme needs a JSON object as payload");
  return Buffer.from(JSON.stringify(change(root as Members)));
}
