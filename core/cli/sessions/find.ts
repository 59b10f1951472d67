/** Finds sessions by what the user typed. */
import { HostError } from "../../contract/errors.ts";
import type { SessionReport } from "../../state/report.ts";
import type { Store } from "../../state/store.ts";

/** How many sessions are searched for a part of a key. */
const searched = 100_000;

/**
 * Finds a session by its key, by a part of it, or the newest one. Throws `session_none`, `session_unknown`, and `usage`
 * if a part matches several.
 */
export async function findSession(store: Store, wanted: string): Promise<SessionReport> {
  const sessions = await store.sessionReports({ limit: wanted === "last" ? 1 : searched });
  if (sessions.length === 0) throw new HostError("session_none");
  const exact = wanted === "last" ? sessions[0] : sessions.find(({ key }) => key === wanted);
  if (exact !== undefined) return exact;
  const [first, ...others] = sessions.filter(({ key }) => key.includes(wanted));
  if (first === undefined) throw new HostError("session_unknown", { session: wanted });
  if (others.length > 0) {
    throw new HostError("usage", {
      reason: `"${wanted}" is part of ${others.length + 1} keys, ${first.key} among them; write more of one`,
    });
  }
  return first;
}
