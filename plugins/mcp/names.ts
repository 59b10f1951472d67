/** Names: which of a server's tools are meant, and what models call them. */
import { createHash } from "node:crypto";

const longest = 64;
const hashLength = 8;

/**
 * The name of a tool for models: `server__tool`. A name that would be too long, or that has other characters than model servers accept, is
 * cut and gets a hash of the original, so that two tools never become one.
 */
export function modelName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(plain) && !server.includes("__")) return plain;
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, hashLength);
  return `${plain.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, longest - hashLength - 1)}_${hash}`;
}

/** Whether one of the patterns names the tool; `*` stands for any characters. */
export function isNamed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern.split("*"), name));
}

/** Compared part by part: a regular expression made of many `*` can take exponential time. */
function matches([first = "", ...rest]: readonly string[], name: string): boolean {
  const last = rest.at(-1);
  if (last === undefined) return first === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
