/** Stands for the plugin of the store in PostgreSQL, in a process that will be killed at a labelled point. */
import plugin, { postgres } from "../../../plugins/store-postgres/index.ts";
import { crashingStore } from "./crashing-store.ts";

export default {
  ...plugin,
  store: {
    ...postgres,
    open: async (opening: Parameters<typeof postgres.open>[0]) => crashingStore(await postgres.open(opening)),
  },
};
