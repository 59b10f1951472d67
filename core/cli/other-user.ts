/** Notices that the state belongs to another user. Otherwise it would look as if there was no state and no gateway. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { HostError } from "../contract/errors.ts";

/** Throws `state_forbidden` if this user may not read the state directory, as without sudo beside a gateway with a user of its own. */
export function requireAccess(directory: string): void {
  if (isForbidden(directory, constants.R_OK | constants.X_OK) || isForbidden(join(directory, "gateway.json"), constants.R_OK))
    throw new HostError("state_forbidden", { directory });
}

export const isStateForbidden = (error: unknown): boolean => error instanceof HostError && error.code === "state_forbidden";

/** A path that does not exist is not forbidden. */
function isForbidden(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" || code === "EPERM";
  }
}
