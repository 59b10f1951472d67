/** Recognizes a turn that a plugin requests for itself, such as one at a set time. */
import type { Inbound } from "../../contract/index.ts";

/**
 * True for neither a message of a person, a webhook nor a heartbeat. Such a turn has a place of its own for its reply,
 * so it takes no events that wait for a heartbeat, and `HEARTBEAT_OK` means nothing in it.
 */
export function isPluginTurn({ kind, request }: Pick<Inbound, "kind" | "request">): boolean {
  return kind === "system" && request !== undefined && request.heartbeat === undefined;
}
