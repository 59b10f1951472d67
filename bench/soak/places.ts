/** The stores on which a soak can run, by the names of `state.store`. */
import { beforeEnd } from "../before-end.ts";
import { embeddedPlace, type StatePlace } from "./place.ts";

export const stores = ["sqlite", "postgres"] as const;
export type StoreName = (typeof stores)[number];

export interface Places {
  /** The place of a directory that has no state yet. */
  of(directory: string): StatePlace;
  /** Ends what the places need. `keep`: their data stay. Resolves with what the data of a server can be found under. */
  close(options: { readonly keep: boolean }): Promise<string | undefined>;
}

/** For PostgreSQL, starts a server. */
export async function openPlaces(store: StoreName): Promise<Places> {
  if (store === "sqlite") return { of: embeddedPlace, close: async () => undefined };
  const [{ createPostgres }, { postgresPlace }] = await Promise.all([
    import("../../test/support/postgres-server.ts"),
    import("./postgres-place.ts"),
  ]);
  const server = createPostgres();
  await server.start();
  const ended = beforeEnd(server.kill);
  return {
    of: (directory) => postgresPlace(directory, server.newUrl()),
    async close({ keep }) {
      ended();
      await (keep ? server.stop() : server.remove());
      return keep ? server.data() : undefined;
    },
  };
}
