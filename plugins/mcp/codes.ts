/** Why a call of a tool of an MCP server was not done. */
import type { CodeDefinition } from "service-gateway/sdk";

export const codes = {
  mcp_down: {
    meaning: "The MCP server of the tool was not available, and the call was not sent; the model read that.",
    hint: "See its state with `service mcp list`, and try it with `service mcp test NAME`.",
  },
  mcp_outcome_unknown: {
    meaning: "The call was sent to the MCP server, and it is not known whether it took effect; the model read that.",
    hint: "Look at what the tool does, and at the server: `{command} mcp list`.",
  },
  mcp_refused: {
    meaning: "The MCP server refused the call before the tool ran; the model read the reason.",
    hint: "Read the log lines of the plugin: `{command} logs`.",
  },
  mcp_tool_error: {
    meaning:
      "The tool of an MCP server ran and reported an error, so it may have done a part; the model read the error.",
    hint: "",
  },
  mcp_unreadable: {
    meaning: "The tool of the MCP server ran, but its answer cannot be read; the model read that.",
    hint: "Try the server with `{command} mcp test NAME`, and report the fault to its makers.",
  },
  mcp_unknown: {
    meaning: "No agent has an MCP server with this name.",
    hint: "`service mcp list` shows the names.",
  },
} as const satisfies Readonly<Record<string, CodeDefinition>>;
