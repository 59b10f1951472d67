/**
 * Which configuration the accounts follow. Reading takes time, in which the file or a channel may change again: the
 * last one wins.
 */
import type { GatewayConfig } from "../config/index.ts";
import type { WantedAccounts } from "./wanted-accounts.ts";

export interface Configured {
  /** Absent before the first one. */
  readonly config?: GatewayConfig;
  readonly disabled: ReadonlySet<string>;
}

export interface Following {
  configured(): Configured;
  /**
   * Reads the accounts. The returned function makes them follow before it returns, unless a channel was replaced
   * meanwhile.
   */
  prepare(next: Required<Configured>): Promise<() => Promise<void>>;
  /** A channel was replaced, so what was read before no longer applies. Resolves when the accounts follow again. */
  replaced(): Promise<void>;
}

export function createFollowing({
  read,
  follow,
}: {
  readonly read: (configured: Required<Configured>) => Promise<WantedAccounts>;
  readonly follow: (wanted: WantedAccounts) => void;
}): Following {
  let configured: Configured = { disabled: new Set() };
  let replacements = 0;

  async function followAgain(): Promise<void> {
    for (;;) {
      const { config, disabled } = configured;
      const before = replacements;
      if (config === undefined) return;
      const wanted = await read({ config, disabled });
      if (configured.config === config && replacements === before) return follow(wanted);
    }
  }

  return {
    configured: () => configured,
    async prepare(next) {
      const before = replacements;
      const wanted = await read(next);
      return async () => {
        configured = next;
        if (replacements === before) follow(wanted);
        else await followAgain();
      };
    },
    replaced() {
      replacements += 1;
      return followAgain();
    },
  };
}
