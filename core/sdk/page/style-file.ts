import { join } from "node:path";

/**
 * The file with the common look of the gateway's pages: colours for both themes, type, buttons, badges. A page that a
 * plugin serves includes it before styles of its own, so that all pages look alike.
 *
 * @example
 * host.route({
 *   method: "GET",
 *   path: "style.css",
 *   access: "public",
 *   handler: async () => ({ type: "text/css; charset=utf-8", body: await readFile(pageStyleFile, "utf8") }),
 * });
 */
export const pageStyleFile = join(import.meta.dirname, "style.css");
