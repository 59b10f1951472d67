/** What `plugins create` can write. */
export const pluginKinds = ["channel", "engine", "preset", "plugin", "transform"] as const;

export type PluginKind = (typeof pluginKinds)[number];
