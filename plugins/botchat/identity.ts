/** Determines the bot's identity. It is stored between starts, and the platform is asked again at each start. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus, pause } from "service-gateway/sdk/channel";
import { failureOf } from "./intake/failure.ts";
import { record, text } from "./intake/fields.ts";
import type { BotIdentity } from "./intake/place.ts";
import type { AccountOptions } from "./options.ts";
import type { BotApi } from "./wire/api.ts";
import { createBackoff } from "./wire/backoff.ts";

/** Stores the bot's name, because waiting events are parsed before the platform has answered. */
function createIdentityFile(directory: string) {
  const file = join(directory, "identity.json");
  return {
    read(botId: string): string | undefined {
      try {
        const stored = record(JSON.parse(readFileSync(file, "utf8")) as Json);
        return stored?.id === botId ? text(stored.username) : undefined;
      } catch {
        return undefined;
      }
    },
    write(identity: BotIdentity): void {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, JSON.stringify(identity), { mode: 0o600, flush: true });
      renameSync(`${file}.new`, file);
    },
  };
}

export interface Identity {
  /** The identity as far as it is known. */
  current(): BotIdentity;
  /**
   * Asks the platform until it answers. Resolves with `undefined` if the account was closed before. Throws
   * `ChannelError` if the token is rejected.
   */
  introduce(api: BotApi, signal: AbortSignal): Promise<NonNullable<ChannelStatus["identity"]> | undefined>;
}

export function createIdentity(account: ChannelAccount<AccountOptions>, botId: string): Identity {
  const { options } = account;
  const file = createIdentityFile(account.directory);
  const known = file.read(botId);
  let identity: BotIdentity = { id: botId, username: known };
  return {
    current: () => identity,
    async introduce(api, signal) {
      const backoff = createBackoff({ minMs: options.polling.minDelayMs, maxMs: options.polling.maxDelayMs });
      while (!signal.aborted) {
        try {
          const me = await api.call("getMe", {}, signal);
          if (typeof me?.id !== "number")
            throw new ChannelError("bad_answer", { retryable: true, detail: "getMe: the answer is not a bot" });
          identity = { id: String(me.id), username: me.username };
          if (identity.username !== known) file.write(identity);
          return { ...identity, name: me.first_name };
        } catch (error) {
          if (signal.aborted) return undefined;
          if (error instanceof ChannelError && error.reason === "unauthorized") {
            const failure = failureOf(error);
            account.status({ state: "failed", ...failure });
            throw new ChannelError(failure.code, failure);
          }
          account.status({ state: "waiting", ...failureOf(error) });
          const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
          await pause(Math.max(asked ?? 0, backoff.next()), signal);
        }
      }
      return undefined;
    },
  };
}
