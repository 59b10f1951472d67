/** The files of the backups that a gateway makes by itself: their names, and which old ones are removed. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readManifest } from "./archive-reader.ts";

const prefix = "gateway";

/** Identifies the gateway among those whose backups are in one directory. */
export function ownerOf(stateDirectory: string): string {
  return createHash("sha256").update(`${hostname()}\0${stateDirectory}`).digest("hex").slice(0, 12);
}

export const ownName = (owner: string): RegExp => new RegExp(`^${prefix}-${owner}-\\d{8}T\\d{6}Z\\.tar\\.gz$`);

/** Sorts by time. */
export function nameFor(owner: string, at: number): string {
  const stamp = new Date(at).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
  return `${prefix}-${owner}-${stamp}.tar.gz`;
}

/**
 * Removes the oldest backups until `keep` are left. Only files that this gateway has made are counted and removed: the
 * name and the content say so. Resolves with the removed files.
 */
export async function removeOld(
  directory: string,
  { owner, keep }: { readonly owner: string; readonly keep: number },
): Promise<readonly string[]> {
  const name = ownName(owner);
  const found = readdirSync(directory)
    .filter((file) => name.test(file))
    .toSorted()
    .map((file) => join(directory, file))
    .filter((file) => lstatSync(file).isFile());
  const removed: string[] = [];
  // The content is looked at only where something would be removed.
  for (const file of found.slice(0, -keep)) {
    if ((await readManifest(file))?.owner !== owner) continue;
    rmSync(file);
    removed.push(file);
  }
  return removed;
}
