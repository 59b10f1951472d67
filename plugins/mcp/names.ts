/** What models call the tools of a server. */
import { createHash } from "node:crypto";

const longest = 64;
const hashLength = 8;

/**
 * The name of a tool for models: `server__tool`. A name that would be too long, or that has other characters than model
 * servers accept, is cut and gets a hash of the original, so that two tools never become one.
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
