/** The name of a node in a database that several gateways share. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { prepareFile, writeWhole } from "./directory.ts";

const fileName = "node";
const valid = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a gateway with another store than the embedded one has used the directory. */
export const isNode = (directory: string): boolean => existsSync(join(directory, fileName));

/**
 * The configured name, or the one in the file `node` of the state directory, or the host name and a random part.
 * `keep`: writes it there, so that the node keeps its name.
 */
export function nodeName(
  directory: string,
  { configured, keep }: { readonly configured: string | undefined; readonly keep: boolean },
): string {
  const stored = readName(directory);
  const name = configured ?? stored ?? newName();
  if (keep && name !== stored) writeWhole(prepareFile(directory, fileName), `${name}\n`);
  return name;
}

function newName(): string {
  const host = hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 48);
  return `${host || "node"}-${randomBytes(4).toString("hex")}`;
}

function readName(directory: string): string | undefined {
  try {
    const name = readFileSync(join(directory, fileName), "utf8").trim();
    return valid.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
