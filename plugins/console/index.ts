/** The console: pages of the gateway for its operators, which use the routes under `/gateway/v1/`. */
import { definePlugin } from "service-gateway/sdk";

/**
 * Loaded with the first visit. A separate function, because the compiler overlooks the path inside an exported call.
 */
const loadFiles = () => import("./files.ts");

export default definePlugin({
  id: "console",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    // Public: they are the same for all, and contain nothing of this gateway. What they show needs a session.
    host.route({
      ...{ method: "GET", path: "/console/", access: "public", page: "The console" },
      handler: async () => (await loadFiles()).sendPage(),
    });
    host.route({
      ...{ method: "GET", path: "/console", access: "public" },
      handler: () => ({ status: 308, headers: { location: "/console/" } }),
    });
    host.route({
      ...{ method: "GET", path: "/console/:file", access: "public" },
      handler: async ({ params }) => (await loadFiles()).sendFile(params.file ?? ""),
    });
  },
});
