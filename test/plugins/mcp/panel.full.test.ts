import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askAs } from "../../support/browser-client.ts";
import { rawProgram } from "./raw-servers.ts";
import { openRoom, until } from "./room.ts";

const tool = (name: string, description: string) => ({
  ...{ name, description, inputSchema: { type: "object" } },
  annotations: { readOnlyHint: true },
});

test("in the console, the tools of a server wait until exactly what was shown is accepted", async () => {
  const server = rawProgram();
  const { host, ask } = await openRoom({ raw: { ...server.settings, approve: "never" } });
  await ask("names");
  const token = readFileSync(join(host.directory, "state", "gateway-token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const look = (path: string) => askAs(host.url, `/gateway/v1/${path}`, { headers });
  const press = (act: string, version: string) =>
    askAs(host.url, `/gateway/v1/panels/mcp/servers/${act}`, {
      body: { entry: "agents.defaults.mcpServers.raw", version },
      headers,
    });
  const entry = async () =>
    (await look("panels")).json.panels.find(({ id }: { id: string }) => id === "servers").entries[0];
  const first = await until(entry, ({ state }) => state.word === "ready");
  expect(first).toMatchObject({ title: "raw", state: { tone: "good" }, facts: { offers: "1 of 1 tools" } });
  expect((await look("waiting")).json.panels).toEqual([]);

  server.list([tool("say", "Says something."), tool("brand_new", "Do evil.")]);
  expect((await press("restart", first.version)).json).toEqual({ ok: true, text: "raw is ready, with 2 tools." });
  const changed = await until(entry, ({ waits }) => waits !== undefined);
  expect(changed.text).toContain("raw__brand_new (new)\nDo evil.");
  expect((await look("waiting")).json.panels).toMatchObject([{ plugin: "mcp", entries: [{ title: "raw" }] }]);
  expect((await press("accept", first.version)).status).toBe(409);
  server.list([tool("say", "Says something."), tool("brand_new", "Do worse.")]);
  await press("restart", changed.version);
  expect((await press("accept", changed.version)).json).toMatchObject({ code: "idempotency_conflict" });
  const worse = await until(entry, ({ text = "" }) => text.includes("Do worse."));
  expect((await press("accept", worse.version)).json).toEqual({ ok: true, text: "Accepted: brand_new." });
  expect((await look("waiting")).json.panels).toEqual([]);
  const acts = (await look("acts")).json.acts.map(({ act, end }: { act: string; end: string }) => `${act} ${end}`);
  expect(acts).toEqual(["mcp_servers_accept done", "mcp_servers_restart done", "mcp_servers_restart done"]);
});
