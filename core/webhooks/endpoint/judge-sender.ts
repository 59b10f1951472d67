/**
 * Verifies the sender of a request to a mapping: by the headers alone if they are enough, otherwise by the signed
 * content.
 */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../../http/index.ts";
import type { MappingTable } from "../mapping/compiled-mapping.ts";
import type { ChallengeAnswer } from "../signature/challenge.ts";
import { KeysUnavailable } from "../signature/key-set.ts";
import { createSignatureFaults, type SignatureFaults, SignatureProblem } from "../signature/signature-faults.ts";
import type { SignedRequest, Unverified } from "../signature/verdict.ts";
import type { Authenticate } from "./authenticate.ts";
import { addressRefused, type MappedChecks, type MappedTarget } from "./checks.ts";
import { createMappingChallenges, type MappingChallenges } from "./mapping-challenges.ts";
import type { ShownChallenge } from "./shown-challenges.ts";
import { type ReceivedBody, type Verified, verifyBody, verifySigned } from "./signed.ts";

const nothing = Buffer.alloc(0);
const keysUnavailable = new HttpProblem(
  "unavailable",
  "The keys of the sender of this hook cannot be read; send it again later.",
  { "retry-after": "60" },
);
const notCounted = new HttpProblem("unauthorized", "A test of the address without a credential.");

const hasUnsignedTest = ({ challenges }: MappedTarget["way"]): boolean =>
  challenges.some(({ challenge }) => challenge?.unsigned === true && challenge.needsBody);

export interface MappedSenders extends MappedChecks {
  /**
   * Counts a wrong signature like a wrong token. A valid one may be a replay, so it does not prove anything yet.
   * Returns the answer to a test of the platform, if the request is one that needs no signature. Throws `HttpProblem`.
   */
  verify(
    raw: IncomingMessage,
    target: MappedTarget,
    request: { readonly body: ReceivedBody; readonly query: string },
  ): Verified | ChallengeAnswer;
  /**
   * Reads the public keys of senders that publish them, before `verify`. Rejects with an `HttpProblem`.
   */
  readKeys(raw: IncomingMessage, target: MappedTarget): Promise<void>;
  /** Answers a test of the platform with a valid credential. */
  readonly testVerified: MappingChallenges["verified"];
  /** Whether the secret that verified a delivery still belongs to its path. */
  signs(verified: Verified, path: string): boolean;
}

async function readKeys(
  request: Pick<SignedRequest, "headers" | "now">,
  { path, way }: MappedTarget,
  faults: SignatureFaults,
): Promise<void> {
  try {
    await Promise.all(way.signatures.map(({ signature }) => signature.readKeys?.(request)));
  } catch (error) {
    if (!(error instanceof KeysUnavailable)) throw error;
    faults.keysUnavailable({ hook: path, reason: error.message });
    throw keysUnavailable;
  }
}

export function createMappedSenders(
  deps: {
    readonly mappings: () => MappingTable;
    readonly clientAddress: (request: IncomingMessage) => string;
    readonly now: () => number;
    readonly log: { warn(fields: object, message: string): void };
    readonly onShown?: (shown: ShownChallenge) => void;
  },
  authenticate: Authenticate,
): MappedSenders {
  const faults = createSignatureFaults(deps);
  const challenges = createMappingChallenges(deps, {
    tooMany(raw, { way }) {
      const counted = authenticate.failed(raw, way.credential, notCounted);
      return counted === notCounted ? undefined : counted;
    },
  });

  function refusal(
    raw: IncomingMessage,
    { path, way }: MappedTarget,
    { fault, reason, hint, setting = "secret" }: Unverified,
  ): HttpProblem {
    const signatures = way.signatures.map(({ signature }) => signature);
    const authenticates = signatures.find((signature) => signature.authenticates !== undefined)?.authenticates;
    const problem = new SignatureProblem(
      { fault, reason, hint },
      {
        path:
          way.mappings.find(({ signedBy }) => signedBy !== undefined)?.placeOf(["signature", setting]) ??
          "hooks.mappings",
        sent: setting === "verifyToken" || signatures.every(({ isShared }) => isShared === true),
        authenticates,
      },
    );
    // Clients of Basic authentication first send a request without a password, to learn that one is required. That is
    // not a guess.
    if (authenticates === "Basic" && fault === "missing") return problem;
    const counted = authenticate.failed(raw, way.credential, problem);
    // An answer of 429 is logged elsewhere.
    if (counted === problem) faults.report({ hook: path, client: deps.clientAddress(raw), fault, reason });
    return counted;
  }

  const verify: MappedSenders["verify"] = (raw, target, { body, query }) => {
    const verified = verifyBody(target.way, { raw, body, now: deps.now() });
    if (!("ok" in verified)) return verified;
    const test = challenges.unsigned({ raw, target, query }, body.content);
    if (test instanceof HttpProblem) throw test;
    if (test !== undefined) return test;
    throw refusal(raw, target, verified);
  };

  const isHeld = (raw: IncomingMessage, { way }: MappedTarget): boolean =>
    way.mappings.length > 0 && way.mappings.every(({ admits }) => admits?.(deps.clientAddress(raw)) === false);

  return {
    judge(raw, target, query) {
      const { way } = target;
      const locked = authenticate.locked(raw, way.credential);
      if (locked !== undefined) return locked;
      if (isHeld(raw, target)) return addressRefused;
      for (const { signature } of way.signatures) {
        const greeted = signature.greet?.({ method: raw.method ?? "", query });
        if (greeted !== undefined)
          return "ok" in greeted ? refusal(raw, target, { ...greeted, setting: "verifyToken" }) : greeted;
      }
      const test = challenges.byHeaders({ raw, target, query });
      if (test !== undefined) return test;
      if (way.signatures.every(({ signature }) => signature.headersOnly === true)) {
        const verified = verifySigned(way, { raw, body: nothing, now: deps.now() });
        // This may be the test of a platform, which its body shows.
        if ("ok" in verified && raw.method === "POST" && hasUnsignedTest(way)) return undefined;
        if ("ok" in verified) return refusal(raw, target, verified);
        authenticate.proved(raw, way.credential);
      }
      return undefined;
    },
    test: (raw, target, query) => {
      if (target.way.challenges.length === 0) return undefined;
      return isHeld(raw, target) ? addressRefused : challenges.byHeaders({ raw, target, query });
    },
    readKeys: (raw, target) => readKeys({ headers: raw.headers, now: deps.now() }, target, faults),
    testVerified: challenges.verified,
    held: (raw, target) => (isHeld(raw, target) ? addressRefused : undefined),
    verify,
    signs: ({ signer }, path) =>
      deps
        .mappings()
        .way(path)
        .signatures.some(({ signature }) => signature.signers.includes(signer)),
  };
}
