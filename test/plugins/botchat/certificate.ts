/**
 * A certificate for servers of a test, made anew at each run: no key lies in the repository, and no program has to be
 * there.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished } from "../../support/own-test.ts";

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = body.length < 0x1_00 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const text = (tag: number, value: string) => der(tag, Buffer.from(value));
const object = (hex: string) => der(0x06, Buffer.from(hex, "hex"));

const ecdsaWithSha256 = sequence(object("2a8648ce3d040302"));
const commonName = object("550403");
const basicConstraints = object("551d13");
const subjectAltName = object("551d11");

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Signed by itself. */
export function createCertificate(...names: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(commonName, text(0x0c, "a test"))));
  const authority = sequence(basicConstraints, der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const alternatives = sequence(subjectAltName, der(0x04, sequence(...names.map((each) => text(0x82, each)))));
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(text(0x17, "200101000000Z"), text(0x17, "491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(authority, alternatives)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", signed, privateKey));
  const base64 = sequence(signed, ecdsaWithSha256, signature).toString("base64");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`,
  };
}

/** Until the test ends, connections of this thread trust it. */
export function trust({ cert }: Certificate): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert]);
  onTestFinished(() => setDefaultCACertificates(before));
}
