/** A certificate that no authority has signed, as mail servers at home have it. */
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
  /** Where `cert` is. */
  readonly file: string;
  readonly fingerprint256: string;
  remove(): void;
}

export function makeCertificate({ names = "IP:127.0.0.1" }: { readonly names?: string } = {}): SelfSigned {
  const directory = mkdtempSync(join(tmpdir(), "certificate-"));
  const file = join(directory, "cert.pem");
  const keyFile = join(directory, "key.pem");
  const kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync(
    "openssl",
    [...kind, "-keyout", keyFile, "-out", file, "-subj", "/CN=mail", "-addext", `subjectAltName=${names}`],
    {
      stdio: "ignore",
    },
  );
  const cert = readFileSync(file, "utf8");
  return {
    key: readFileSync(keyFile, "utf8"),
    cert,
    file,
    fingerprint256: new X509Certificate(cert).fingerprint256,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
