/**
 * The store that needs no plugin and no address: a database in the state directory. Every other value of `state.store`
 * names a plugin.
 */
export const embeddedStore = "sqlite";
