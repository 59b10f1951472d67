/** Which tools an agent has, by the names in its settings. */
import type { AgentSettings } from "../../config/index.ts";
import { isNamed } from "../../contract/index.ts";

export function isAllowed(name: string, { allow, deny = [] }: NonNullable<AgentSettings["tools"]> = {}): boolean {
  return !isNamed(deny, name) && (allow === undefined || isNamed(allow, name));
}
