/** The commands of the plugin. */
import type { CliDefinition } from "service-gateway/sdk";

export const mcpCli: CliDefinition = {
  name: "mcp",
  summary: "MCP servers, whose tools the agents use.",
  commands: [
    {
      name: "list",
      summary: "List the servers, their state and how many tools they offer.",
      example: "list",
      run: async (call) => (await import("./commands.ts")).listServers(call),
    },
    {
      name: "test",
      args: ["<name>"],
      summary: "Start a server, greet it and list its tools, whether or not a gateway is running.",
      example: "test files",
      prepares: true,
      run: async (call) => (await import("./commands.ts")).testServer(call),
    },
    {
      name: "tools",
      args: ["[name]"],
      summary: "List the tools of the servers, and before which of them an owner is asked.",
      example: "tools files",
      run: async (call) => (await import("./commands.ts")).listTools(call),
    },
    {
      name: "accept",
      args: ["<name>", "[listing]"],
      summary:
        "Accept new and changed tools of a server, as `mcp tools` has shown them; without the listing that " +
        "it names, show them.",
      example: "accept files 3f9c2a1b7d04",
      run: async (call) => (await import("./commands.ts")).acceptTools(call),
    },
    {
      name: "restart",
      args: ["<name>"],
      summary: "Start a server again, also one that was given up.",
      example: "restart files",
      run: async (call) => (await import("./commands.ts")).restartServer(call),
    },
  ],
};
