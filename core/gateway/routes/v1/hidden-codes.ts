/**
 * Codes that decide: of pairing, of approvals, and of accounts that a person signs in. Only sessions that may decide
 * see them, because a code that is typed or scanned elsewhere grants something. They are removed by value, since they
 * are in texts of events, replies and the log, too.
 */
import { createPairing } from "../../../access/index.ts";
import type { OwnRequest } from "../../../http/index.ts";
import { createRedactor, redactValue } from "../../../log/index.ts";
import type { V1Deps } from "./deps.ts";

export const mayDecide = ({ role }: Pick<OwnRequest["caller"], "role">): boolean => role === "admin";

/** Resolves with what removes the codes that are valid now; `undefined` if there are none. */
export async function codeRemover(
  deps: Pick<V1Deps, "store" | "now" | "config" | "approvals" | "accounts">,
): Promise<(<T>(value: T) => T) | undefined> {
  const pairing = createPairing(deps);
  const pending = await Promise.all(Object.keys(deps.config().channels).map((channel) => pairing.pending(channel)));
  const ofPeople = [...pending.flat(), ...(await deps.approvals.waiting())].map(({ code }) => code);
  const ofAccounts = deps
    .accounts()
    .flatMap(({ status: { action } }) =>
      [action?.code, action?.qr, action?.url].flatMap((code = "") => (code === "" ? [] : [code])),
    );
  const codes = [...ofPeople, ...ofAccounts];
  if (codes.length === 0) return undefined;
  const redact = createRedactor(() => codes, "[hidden]");
  return (value) => redactValue(value, redact);
}
