/** Tools of MCP servers for the agents. Nothing but this file is loaded until an agent has a server. */
import { definePlugin } from "service-gateway/sdk";
import { mcpCli } from "./cli.ts";
import { codes } from "./codes.ts";
import { mcpPanel } from "./panel/panel.ts";
import { mcpRoutes } from "./routes.ts";
import { checkServers, serversSchema } from "./section.ts";
import { hasServers } from "./settings.ts";

type Serving = import("./serving.ts").Serving;

const nothing = { tools: [] };

export default definePlugin({
  id: "mcp",
  version: "1.0.0",
  host: "^0.2.0",
  codes,
  cli: mcpCli,
  section: {
    key: "mcpServers",
    of: "agents",
    schema: serversSchema,
    otherNames: ["mcp"],
    check: checkServers,
  },
  setup(host) {
    const section = host.section("mcpServers");
    let serving: Serving | undefined;
    let loading: Promise<void> | undefined;
    let isClosed = false;

    async function load(): Promise<void> {
      const { createServing } = await import("./serving.ts");
      if (isClosed) return;
      serving = createServing(host, section);
      serving.follow();
    }
    function follow(): void {
      if (serving !== undefined) serving.follow();
      if (loading !== undefined || !hasServers(section)) return;
      loading = load().catch((error: unknown) => {
        loading = undefined;
        host.log.error(
          { error: error instanceof Error ? error.message : String(error) },
          "MCP servers could not be loaded",
        );
      });
    }
    section.onChange(follow);
    host.onReady(follow);
    host.toolSource({
      id: "mcp",
      async offer(turn) {
        await loading;
        return (await serving?.offer(turn)) ?? nothing;
      },
      refused: (refusal) => serving?.refused(refusal),
    });
    for (const route of mcpRoutes(() => serving)) host.route(route);
    host.panel(mcpPanel(() => serving));
    host.status(() => serving?.status() ?? []);
    host.check({
      name: "servers",
      explain: async () => serving?.explain() ?? { verdict: "ok", reason: "no agent has an MCP server" },
    });
    host.onClose(async () => {
      isClosed = true;
      await loading;
      await serving?.close();
    });
  },
});
