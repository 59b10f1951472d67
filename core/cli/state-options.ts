/** How a command opens a state. What only the store of a plugin needs is loaded only for one. */
import { join } from "node:path";
import type { StateOptions } from "../stores/options.ts";
import type { StatePlace } from "../stores/place.ts";

export function stateOptions(
  place: StatePlace,
  from: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly configDirectory: string;
    /** Resolves with `plugins.load`. */
    readonly load: () => Promise<readonly string[]>;
  },
): StateOptions {
  const { env, configDirectory, load } = from;
  return {
    ...{ place, now: Date.now, owner: false },
    secrets: async () => (await import("../config/secrets.ts")).createSecrets({ env, directory: configDirectory }),
    async plugins() {
      const { createLoader } = await import("../host/load.ts");
      const loader = createLoader({ cacheDirectory: join(place.directory, "cache", "plugins"), fresh: false });
      return { loader, load: await load(), configDirectory };
    },
  };
}
