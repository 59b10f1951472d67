/** The first entry of a backup: what made it, and what a restored gateway needs besides. */

import type { NeededSecret } from "../config/index.ts";
import { isRecord, parseJsonText } from "../config/index.ts";
import { product } from "../contract/index.ts";

/** The version of the layout. A program refuses a backup with a higher one. */
export const knownFormat = 1;

export const manifestName = "manifest.json";
/** The last entry: size and digest of all others. A backup that was cut off has none. */
export const checksumsName = "checksums.json";
export const configName = product.configFile;

export interface Manifest {
  readonly format: number;
  readonly product: string;
  /** Version of the program. */
  readonly version: string;
  /** When the copy of the state began, as an ISO time. All that was accepted before is in it. */
  readonly createdAt: string;
  /** `state.store`. */
  readonly store: string;
  /** Version of the tables of `state.db`; absent if the database is elsewhere. */
  readonly schema?: number;
  /** Whether it contains secrets and files of messages. */
  readonly withSecrets: boolean;
  readonly withMedia: boolean;
  /** Identifies the gateway that made it by itself; absent in a backup that a person made. */
  readonly owner?: string;
  /** Settings whose value differs from that of the original. */
  readonly changed: readonly { readonly path: string; readonly value: string }[];
  /** What the configuration needs and the backup does not contain. */
  readonly secrets: readonly NeededSecret[];
  /** What is not in the backup, one sentence each. */
  readonly leftOut: readonly string[];
}

/** Reads a manifest of any version as far as it can be understood; `undefined` if it is none. */
export function parseManifest(text: string): Manifest | undefined {
  const value = parseJsonText(text);
  if (!isRecord(value) || value.product !== product.packageName || !Number.isInteger(value.format)) return undefined;
  const { format, version, createdAt, store, schema, owner } = value;
  if (typeof version !== "string" || typeof createdAt !== "string" || Number.isNaN(Date.parse(createdAt)))
    return undefined;
  return {
    ...{ format: Number(format), product: product.packageName, version, createdAt },
    store: typeof store === "string" ? store : "",
    ...(Number.isInteger(schema) ? { schema: Number(schema) } : {}),
    ...(typeof owner === "string" ? { owner } : {}),
    withSecrets: value.withSecrets === true,
    withMedia: value.withMedia === true,
    changed: listOf(value.changed).flatMap(({ path, value: to }) =>
      typeof path === "string" && typeof to === "string" ? [{ path, value: to }] : [],
    ),
    secrets: listOf(value.secrets).flatMap(({ path, variable, file, again }) =>
      typeof path === "string"
        ? [
            {
              path,
              ...(typeof variable === "string" ? { variable } : {}),
              ...(typeof file === "string" ? { file } : {}),
              ...(again === true ? { again } : {}),
            },
          ]
        : [],
    ),
    leftOut: Array.isArray(value.leftOut) ? value.leftOut.filter((one) => typeof one === "string") : [],
  };
}

const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((one) => isRecord(one)) : [];
