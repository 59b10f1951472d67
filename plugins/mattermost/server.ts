/** What the server allows, by its own configuration. */
import type { Api } from "./api.ts";
import { record, text } from "./fields.ts";

export interface ServerSettings {
  readonly version: string;
  /** Bytes; 0: the server does not say. */
  readonly maxFileSize: number;
  readonly allowsFiles: boolean;
  /** The public key with which it signs presses, as base64. */
  readonly signingKey: string | undefined;
}

const freshMs = 10 * 60_000;

/** Asks once in ten minutes. */
export function createServerSettings(api: Api, now: () => number): (signal?: AbortSignal) => Promise<ServerSettings> {
  let known: { readonly settings: ServerSettings; readonly at: number } | undefined;
  return async (signal) => {
    if (known !== undefined && Math.abs(now() - known.at) < freshMs) return known.settings;
    const config = record(await api.call("GET", "config/client?format=old", { signal }));
    const settings = {
      version: text(config.Version),
      maxFileSize: Number(config.MaxFileSize) || 0,
      allowsFiles: config.EnableFileAttachments !== "false",
      signingKey: text(config.AsymmetricSigningPublicKey) || undefined,
    };
    known = { settings, at: now() };
    return settings;
  };
}
