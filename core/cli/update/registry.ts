/** What the npm registry knows of this package. All of it is text of others: each field is judged. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { valid } from "semver";
import { readArchive } from "../../archives/reader.ts";
import { isRecord } from "../../config/checking/validate.ts";
import { parseJsonText } from "../../config/json-text.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import { fetchWhole } from "../../media/bounded-fetch.ts";

const usualRegistry = "https://registry.npmjs.org/";
const timeoutMs = 10_000;
const maxDocumentBytes = 32 * 1_048_576;
const maxTarballBytes = 64 * 1_048_576;
const archiveLimits = { bytes: 256 * 1_048_576, entries: 20_000 };
const maxChangelogBytes = 2 * 1_048_576;

export interface Published {
  readonly newest: string;
  readonly versions: readonly string[];
  /** When the newest version was published. */
  readonly publishedAt?: string;
  /** Versions of Node that the newest one runs on. */
  readonly node?: string;
  readonly link: string;
  readonly tarball?: { readonly url: string; readonly integrity: string };
}

const unknown = (reason: string, fix: string, cause?: unknown) =>
  new HostError("update_unknown", { reason, fix }, { cause });

/**
 * The address of the registry, as npm finds it: the option, the variable in any case, `registry` of the user's file,
 * the public registry.
 */
export function registryAddress(
  option: string | undefined,
  { env, home }: { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string },
): URL {
  const variable = (name: string) => Object.entries(env).find(([key]) => key.toLowerCase() === name)?.[1];
  const named = [option, variable("npm_config_registry"), ofFile(variable("npm_config_userconfig"), home)];
  const text = named.find((one) => one !== undefined && one.trim() !== "") ?? usualRegistry;
  const url = URL.parse(text.endsWith("/") ? text : `${text}/`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new HostError("usage", { reason: `the address of the registry is not an http or https address: ${text}` });
  return url;
}

function ofFile(named: string | undefined, home: string): string | undefined {
  const file = named ?? join(home, ".npmrc");
  if (!existsSync(file)) return undefined;
  return /^\s*registry\s*=\s*"?([^\s"]+)"?\s*$/m.exec(readFileSync(file, "utf8"))?.[1];
}

/** Throws `update_unknown`, which says why in one sentence. */
export async function askRegistry(registry: URL): Promise<Published> {
  const { host } = registry;
  let answer: Awaited<ReturnType<typeof fetchWhole>>;
  try {
    answer = await fetchWhole(new URL(product.packageName, registry), {
      headers: { accept: "application/json" },
      maxBytes: maxDocumentBytes,
      timeoutMs,
      redirect: "follow",
    });
  } catch (error) {
    throw unknown(
      `the registry ${host} cannot be reached: ${whyOf(error)}`,
      "Check the network, or name another registry with --registry.",
      error,
    );
  }
  if (answer.status === 404)
    throw unknown(
      `the registry ${host} has no package ${product.packageName}, so it is not published there`,
      "Name the registry that has it with --registry.",
    );
  if (!answer.ok) throw unknown(`the registry ${host} answered ${answer.status}`, "Try again later.");
  const published = parsePublished(answer.text);
  if (published === undefined)
    throw unknown(`the registry ${host} sent something else than a package`, "Check the address of the registry.");
  return published;
}

/** `fetch` fails without a reason of its own: that is in the cause. */
const whyOf = (error: unknown): string =>
  error instanceof TypeError && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);

function parsePublished(text: string): Published | undefined {
  const value = parseJsonText(text);
  if (!isRecord(value) || !isRecord(value["dist-tags"]) || !isRecord(value.versions)) return undefined;
  const { latest } = value["dist-tags"];
  if (typeof latest !== "string" || valid(latest) === null || !Object.hasOwn(value.versions, latest)) return undefined;
  const version = value.versions[latest];
  const { dist, engines } = isRecord(version) ? version : {};
  const time = isRecord(value.time) ? value.time[latest] : undefined;
  const [url, integrity] = isRecord(dist) ? [dist.tarball, dist.integrity] : [];
  return {
    newest: latest,
    versions: Object.keys(value.versions).filter((one) => valid(one) !== null),
    ...(typeof time === "string" ? { publishedAt: time } : {}),
    ...(isRecord(engines) && typeof engines.node === "string" ? { node: engines.node } : {}),
    link: `https://www.npmjs.com/package/${product.packageName}/v/${latest}`,
    ...(typeof url === "string" && typeof integrity === "string" ? { tarball: { url, integrity } } : {}),
  };
}

/**
 * The change log in the package of the newest version. `undefined` if it cannot be had: the package is missing, too
 * large, not the one that the registry describes, or has none.
 */
export async function fetchChangelog({ tarball }: Published): Promise<string | undefined> {
  const url = tarball === undefined ? null : URL.parse(tarball.url);
  if (tarball === undefined || url === null || !/^https?:$/.test(url.protocol)) return undefined;
  try {
    const { ok, bytes } = await fetchWhole(url, { maxBytes: maxTarballBytes, timeoutMs, redirect: "follow" });
    if (!ok || !isIntact(bytes, tarball.integrity)) return undefined;
    return await textIn(bytes, "package/CHANGELOG.md");
  } catch {
    return undefined;
  }
}

function isIntact(bytes: Uint8Array, integrity: string): boolean {
  const wanted = integrity.split(/\s+/).find((one) => one.startsWith("sha512-"));
  return wanted === `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

async function textIn(archive: Uint8Array, name: string): Promise<string | undefined> {
  for await (const { name: found, size, content } of readArchive([archive], archiveLimits))
    if (found === name) return size > maxChangelogBytes ? undefined : await textOf(content);
  return undefined;
}
