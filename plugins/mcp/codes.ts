/** Why a call of a tool of an MCP server was not done. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes = {
  mcp_down: {
    meaning: "The MCP server of the tool was not available, or ended during the call; the model read that.",
    hint: "See its state with `service mcp list`, and try it with `service mcp test NAME`.",
  },
  mcp_refused: {
    meaning: "The MCP server refused the call; the model read the reason.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
  mcp_tool_error: {
    meaning: "The tool of an MCP server ran and reported an error; the model read it.",
    hint: "",
  },
  mcp_unknown: {
    meaning: "No agent has an MCP server with this name.",
    hint: "`service mcp list` shows the names.",
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;
