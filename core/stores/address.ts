/** The address of a database: read from its secret, and shown without user and password. */
import type { Secrets } from "../config/index.ts";
import { HostError } from "../contract/index.ts";
import type { StatePlace } from "./place.ts";

export interface DatabaseAddress {
  readonly url: string;
  /** For messages. Options may contain a password too, so they are left out. */
  readonly shown: string;
  /** Replaces the address and its password in a text. */
  clean(text: string): string;
}

/**
 * Throws `config_invalid` or `secret_unavailable`. The password is registered as a secret of its own, as drivers quote
 * it.
 */
export function databaseAddress({ store, url: secret }: StatePlace, secrets: Secrets): DatabaseAddress {
  const invalid = (reason: string, fix: string) => new HostError("config_invalid", { path: "state.url", reason, fix });
  if (secret === undefined)
    throw invalid(
      `is missing, and the store ${store} needs it`,
      'Set it to the address of the database, such as { "env": "DATABASE_URL" }.',
    );
  const url = secrets.resolve(secret, "state.url");
  const parsed = URL.parse(url);
  if (parsed === null) throw invalid("is not a valid address", `Write it as ${store}://USER@HOST/DATABASE.`);
  const passwords = [parsed.password, ...parsed.searchParams.getAll("password")].flatMap(formsOf);
  for (const password of passwords) secrets.resolve(password, "state.url");
  const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
  return {
    url,
    shown,
    clean: (text) =>
      passwords.reduce((cleaned, password) => cleaned.replaceAll(password, "[secret]"), text.replaceAll(url, shown)),
  };
}

/** A password as it is in the address, and decoded. */
function formsOf(password: string): readonly string[] {
  if (password.trim() === "") return [];
  try {
    return [...new Set([password, decodeURIComponent(password)])];
  } catch {
    return [password];
  }
}
