/** Lets a process that is no test import plugins from their sources. A plugin names the SDK as a stranger does. */
import { registerHooks } from "node:module";

registerHooks({
  resolve: (name, context, next) => {
    const entry = /^service-gateway\/sdk(?:\/(\w+))?$/.exec(name);
    return next(
      entry === null ? name : new URL(`../../core/sdk/${entry[1] ?? "index"}.ts`, import.meta.url).href,
      context,
    );
  },
});
