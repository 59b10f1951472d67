/** What a user names to `plugins add`: a package of the registry, a folder or a tarball. */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { HostError } from "../../../contract/errors.ts";
import { isPackageName } from "./tarball.ts";

export type PackageSource =
  | { readonly kind: "registry"; readonly name: string; readonly version: string | undefined }
  | { readonly kind: "folder" | "tarball"; readonly path: string };

const isPath = (text: string) =>
  /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|~[\\/]|[A-Za-z]:[\\/])/.test(text) || isTarballName(text);

export const isTarballName = (text: string): boolean => /\.(?:tgz|tar\.gz)$/i.test(text) && !/^[a-z+]+:/i.test(text);

/** Throws `usage` for what is none of the three, such as an address. */
export function packageSource(text: string): PackageSource {
  if (isPath(text)) return pathSource(text);
  // The at sign at the beginning belongs to the name.
  const at = text.indexOf("@", 1);
  const name = at === -1 ? text : text.slice(0, at);
  const version = at === -1 ? undefined : text.slice(at + 1);
  if (isPackageName(name) && (version === undefined || /^[A-Za-z0-9][A-Za-z0-9.+-]*$/.test(version)))
    return { kind: "registry", name, version };
  throw new HostError("usage", {
    reason:
      `${JSON.stringify(text)} is neither a package of the registry, such as acme-chat or @acme/chat@1.2.0, nor a ` +
      "folder or a tarball, such as ./acme-chat or ./acme-chat-1.2.0.tgz",
  });
}

function pathSource(text: string): PackageSource {
  const path = resolve(text.replace(/^~(?=[\\/])/, homedir()));
  const found = statSync(path, { throwIfNoEntry: false });
  const wrong = (reason: string) => new HostError("plugin_not_found", { plugin: text, reason });
  if (found === undefined) throw wrong(`${path} does not exist`);
  if (found.isDirectory()) return { kind: "folder", path };
  if (!found.isFile() || !isTarballName(path)) throw wrong("it is neither a folder nor a tarball (.tgz)");
  return { kind: "tarball", path };
}
