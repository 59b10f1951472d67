import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";
import type { SignedRequest } from "../../../core/webhooks/signature/verdict.ts";
import { senders } from "../../support/senders.ts";

const at = 1_760_000_000_400;

/**
 * What stands in front of the signature, and random signatures of its form. The same in every run; nothing here knows a
 * secret.
 */
function createForgeries(seed: string, right: string): (index: number) => string {
  const [digits = ""] = /(?:[0-9a-f]{40,}|[A-Za-z0-9+/_-]{26,}={0,2})$/.exec(right) ?? [];
  const encoding = /^[0-9a-f]*$/.test(digits) ? "hex" : /[-_]/.test(digits) ? "base64url" : "base64";
  const length = digits === "" ? 16 : Buffer.from(digits, encoding).length;
  const random = createHash("shake256", { outputLength: length * forgeries })
    .update(seed)
    .digest();
  const front = digits === "" ? "" : right.slice(0, -digits.length);
  return (index) => front + random.toString(encoding, index * length, (index + 1) * length);
}

const forgeries = 10_000;

describe.each(senders)("$name", (sender) => {
  test("rejects all of 10,000 forgeries in the platform's format", () => {
    const { verify } = compileSignature(sender.settings, [sender.secret]);
    const sent = sender.send({ at });
    const forgery = createForgeries(sender.name, sent.headers[sender.header] ?? "");
    const reasons = new Set<string>();
    for (let index = 0; index < forgeries; index += 1) {
      const verdict = verify({ ...sent, headers: { ...sent.headers, [sender.header]: forgery(index) }, now: at });
      reasons.add(verdict.ok ? `passed: ${forgery(index)}` : verdict.reason);
    }
    // All get as far as the comparison.
    expect([...reasons]).toEqual([expect.stringMatching(/^the signature does not match|does not contain the secret$/)]);
  });

  test("rejects a signature made with a guessed secret", () => {
    const { verify } = compileSignature(sender.settings, [sender.secret]);
    const guesses = [
      sender.otherSecret,
      ...(sender.secret.startsWith("wh") || /^[0-9a-f]+$/.test(sender.secret)
        ? []
        : ["", " ", "secret", "undefined", `${sender.secret} `]),
    ];
    for (const secret of guesses) expect(verify({ ...sender.send({ at, secret }), now: at }).ok, secret).toBe(false);
  });

  test("never throws, and accepts no unsigned request", () => {
    const { verify, challenge } = compileSignature(sender.settings, [sender.secret, sender.otherSecret]);
    const right = sender.send({ at }).headers;
    const names = [...Object.keys(right), "host", "constructor", "__proto__", "toString"];
    const value = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
      fc.constantFrom(
        ...Object.values(right),
        "",
        "t=,v1=",
        "v1,",
        "v0=",
        "sha256=",
        `v1=${"0".repeat(64)}`,
        String(Math.floor(at / 1_000)),
      ),
      fc.constantFrom(undefined, ["a", "b"]),
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      fc.constant(sender.send({ at }).body.subarray(1)),
    );
    const request = fc.record({
      headers: fc.dictionary(fc.constantFrom(...names), value),
      body,
      url: fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom("/hooks/x?bodySHA256=1", "?", "/hooks/signed")),
      now: fc.oneof(fc.constant(at), fc.integer(), fc.double()),
    });
    fc.assert(
      fc.property(request, (sent) => {
        const verdict = verify(sent as unknown as SignedRequest);
        challenge?.(sent.body);
        return !verdict.ok || sender.name === "gitlab";
      }),
      { numRuns: 300 },
    );
  });
});

test("rejection reasons reveal nothing to a sender that keeps guessing", () => {
  const reasons = new Set<string>();
  for (const sender of senders) {
    const { verify } = compileSignature(sender.settings, [sender.secret]);
    for (let count = 0; count < 50; count += 1) {
      const sent = sender.send({ at });
      const verdict = verify({
        ...sent,
        headers: { ...sent.headers, [sender.header]: randomBytes(count + 1).toString("latin1") },
        now: at,
      });
      if (!verdict.ok) reasons.add(verdict.reason);
      expect(JSON.stringify(verdict)).not.toContain(sender.secret);
    }
  }
  // Sentences of ours, with names of headers in them: nothing that was sent, and no digest.
  for (const reason of reasons) expect(reason).toMatch(/^[a-z0-9 :,-]+$/);
});
