/** Names for models, and before which tools an owner is asked. */
import type { Json } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { createFingerprints } from "../../../plugins/mcp/fingerprints.ts";
import { modelName } from "../../../plugins/mcp/names.ts";
import { approvalReason, isOffered } from "../../../plugins/mcp/offer.ts";
import type { Server } from "../../../plugins/mcp/server.ts";
import type { Approve, ServerSettings } from "../../../plugins/mcp/settings.ts";

test("tool names are unique and have at most 64 characters, all of which model servers accept", () => {
  expect(modelName("files", "read_file")).toBe("files__read_file");
  const long = "a".repeat(80);
  const all = [
    modelName("files", long),
    modelName("files", `${long}b`),
    modelName("my files", "x"),
    modelName("my_files", "x"),
  ];
  for (const name of all) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(all).size).toBe(4);
  expect(modelName("a", "b__c")).not.toBe(modelName("a__b", "c"));
});

const settings = (more: object) =>
  ({ path: "agents.defaults.mcpServers.files", approve: "writes", ...more }) as ServerSettings;
const tool = (name: string, readOnly = false) => ({ name, description: "", parameters: {}, readOnly });

test.each<[Approve, boolean, boolean]>([
  ["never", false, false],
  ["writes", false, true],
  ["always", true, true],
  [["delete_*"], false, false],
])("approve %j: approval for read-only tools is %s, for others %s", (approve, reads, writes) => {
  const used = { name: "files", settings: settings({ approve }) };
  expect(approvalReason(used, tool("read", true), undefined) !== false).toBe(reads);
  expect(approvalReason(used, tool("write"), undefined) !== false).toBe(writes);
  expect(approvalReason(used, tool("delete_all"), undefined) !== false).toBe(approve !== "never");
  // A changed definition asks whatever the server says of it.
  expect(approvalReason(used, tool("read", true), "changed")).toContain("has changed this tool");
});

test("allow and deny match the server's own tool names", () => {
  const offered = (tools: object, name: string) => isOffered({ name }, settings({ tools }));
  expect(offered({ allow: ["read_*"] }, "read_file")).toBe(true);
  expect(offered({ allow: ["read_*"], deny: ["*_file"] }, "read_file")).toBe(false);
  expect(offered({ allow: [] }, "read_file")).toBe(false);
  expect(offered({ deny: ["*a*a*b"] }, "aXaXb")).toBe(false);
  expect(offered({}, "anything")).toBe(true);
});

test("a tool that newly claims to be read-only counts as changed", async () => {
  let seen: Json | null = null;
  const fingerprints = createFingerprints({
    async update(_key, change) {
      seen = change(seen) ?? seen;
      return seen;
    },
  });
  let tools = [tool("delete_all")];
  const server = { name: "files", identity: "here", tools: () => tools } as unknown as Server;
  expect(fingerprints.doubts(server)).toEqual(new Map([["delete_all", "unknown"]]));
  await fingerprints.see(server, tools);
  expect(fingerprints.doubts(server)).toEqual(new Map());
  tools = [tool("delete_all", true)];
  await fingerprints.see(server, tools);
  expect(fingerprints.doubts(server)).toEqual(new Map([["delete_all", "changed"]]));
});
