/** Explains rejected signatures to the operator. The sender gets the same sentence for every reason. */
import { HttpProblem } from "../../http/index.ts";
import type { SignatureFault } from "./verdict.ts";

const sentences: Readonly<Record<SignatureFault, string>> = {
  missing: "is missing",
  wrong: "is wrong",
  old: "is too old, or the clocks differ",
};

const hints: Readonly<Record<SignatureFault, string>> = {
  missing: "Let the sender sign its requests. This path does not accept the hook token.",
  wrong: "Compare the signing secret with the sender's.",
  old: "Compare the clocks of both machines.",
};

const credentialHint = "Let the sender send the secret of this setting. This path does not accept the hook token.";

const challengeOf = { Basic: 'Basic realm="hooks"', Bearer: "Bearer" } as const;

/** The response to a rejected signature. `detail`, `path` and `hint` are for the operator only. */
export class SignatureProblem extends HttpProblem {
  readonly detail: string;
  /** The setting with the secret. */
  readonly path: string;
  readonly hint: string;

  constructor(
    {
      fault,
      reason,
      hint,
    }: { readonly fault: SignatureFault; readonly reason: string; readonly hint?: string | undefined },
    {
      path,
      sent,
      authenticates,
    }: {
      readonly path: string;
      /** The sender sends the secret itself. */
      readonly sent: boolean;
      /** The HTTP authentication scheme, if the signature is one. */
      readonly authenticates?: "Basic" | "Bearer" | undefined;
    },
  ) {
    if (authenticates === undefined) super("signature_invalid", "The signature is missing, wrong or too old.");
    else
      super("unauthorized", "The credential of this hook is missing or wrong.", {
        "www-authenticate": challengeOf[authenticates],
      });
    this.detail = `${sent ? "The secret of this path" : "The signature"} ${sentences[fault]}: ${reason}.`;
    this.path = path;
    this.hint = hint ?? (sent ? credentialHint : hints[fault]);
  }
}

/**
 * Limits the log lines, because senders without a valid signature could otherwise fill the log. A person who debugs
 * makes fewer attempts.
 */
const linesPerWindow = 30;
const windowMs = 60_000;

export interface SignatureFaults {
  report(fault: {
    readonly hook: string;
    readonly client: string;
    readonly fault: SignatureFault;
    readonly reason: string;
  }): void;
  /** The public keys of a sender cannot be read, so its deliveries cannot be verified. */
  keysUnavailable(fault: { readonly hook: string; readonly reason: string }): void;
}

export function createSignatureFaults({
  now,
  log,
}: {
  readonly now: () => number;
  readonly log: { warn(fields: object, message: string): void };
}): SignatureFaults {
  let began = Number.NEGATIVE_INFINITY;
  let lines = 0;
  const warn = (fields: object, message: string): void => {
    const at = now();
    if (at - began >= windowMs || at < began) {
      began = at;
      lines = 0;
    }
    lines += 1;
    if (lines <= linesPerWindow) log.warn(fields, message);
    else if (lines === linesPerWindow + 1)
      log.warn({}, "more signatures were not accepted; they are not logged for up to a minute");
  };
  return {
    report: (fault) => warn(fault, `a signature was not accepted: ${fault.fault}`),
    keysUnavailable: (fault) => warn(fault, "the public keys of a sender cannot be read"),
  };
}
