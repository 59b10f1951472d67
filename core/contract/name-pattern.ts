/** Names in the configuration, in which `*` stands for any characters. */

/** Whether one of the patterns names it. */
export const isNamed = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matches(pattern, name));

/** Compared part by part: a regular expression made of many `*` can take exponential time. */
function matches(pattern: string, name: string): boolean {
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
