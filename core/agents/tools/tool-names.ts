/** Which tools an agent has, by the names in its settings. */
import type { AgentSettings } from "../../config/index.ts";

/** Whether a pattern of the configuration names the tool; `*` stands for any characters. */
function matches(pattern: string, name: string): boolean {
  // Compared part by part: a regular expression made of many `*` can take exponential time.
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? "";
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

export const isNamed = (patterns: readonly string[], name: string): boolean => patterns.some((pattern) => matches(pattern, name));

export function isAllowed(name: string, { allow, deny = [] }: NonNullable<AgentSettings["tools"]> = {}): boolean {
  return !isNamed(deny, name) && (allow === undefined || isNamed(allow, name));
}
