import { describe, expect, test } from "vitest";
import { readSection } from "../../../core/config/section-settings.ts";
import { sectionProblems } from "../../../core/gateway/config-problems.ts";
import { schemasOf } from "../../../core/host/declaration/schemas.ts";
import mcp from "../../../plugins/mcp/index.ts";
import { serversIn } from "../../../plugins/mcp/settings.ts";
import { load } from "../../core/config/fixture.ts";

describe("the servers of an agent in the configuration", () => {
  const path = "agents.defaults.mcpServers.files";

  async function read(config: object) {
    const loaded = await load(config, {}, schemasOf([mcp as never]));
    const section = readSection({ key: "mcpServers", of: "agents" }, () => loaded.config);
    const used = (agent: string) => [...(serversIn(section as never).get(agent) ?? [])];
    return { problems: [...loaded.problems, ...(await sectionProblems(mcp as never, loaded, Date.now))], used };
  }
  const servers = (server: object) =>
    read({ agents: { defaults: { mcpServers: { files: server, good: { command: "x" } } } } });
  const names = ({ used }: Awaited<ReturnType<typeof read>>) => used("main").map(([name]) => name);

  test.each([
    ["neither a command nor an address", { args: ["x"] }, /has neither a command nor a url/],
    ["both", { command: "x", url: "https://x.example/mcp" }, /has both a command and a url/],
    ["a type that does not fit", { command: "x", type: "http" }, /has the type http, which does not fit its command/],
  ])("one with %s is left out, and no other", async (_name, server, message) => {
    const found = await servers(server);
    expect(found.problems).toMatchObject([{ severity: "error", path, message: expect.stringMatching(message) }]);
    expect(names(found)).toEqual(["good"]);
  });

  test("one with a wrong list of tools is left out: it could be offered tools that were to be left out", async () => {
    const found = await servers({ command: "x", tools: { deny: "delete_*" } });
    expect(found.problems).toMatchObject([{ severity: "error", path: `${path}.tools.deny` }]);
    expect(names(found)).toEqual(["good"]);
  });

  test.each([
    ["http://tickets.example/mcp", 1],
    ["https://tickets.example/mcp", 0],
    ["http://localhost:3000/mcp", 0],
    ["http://127.0.0.1:3000/mcp", 0],
    ["http://[::1]:3000/mcp", 0],
    ["http://127.0.0.1.example/mcp", 1],
  ])("a key that goes to %s gets %d warnings, and the server is used", async (url, warnings) => {
    const found = await servers({ url, headers: { Authorization: "Bearer key-of-the-server" } });
    const warning = { severity: "warning", path: `${path}.url`, message: expect.stringMatching(/without encryption/) };
    expect(found.problems).toMatchObject(Array(warnings).fill(warning));
    expect(names(found)).toContain("files");
    expect((await servers({ url })).problems).toEqual([]);
  });

  test.each([
    ["http://tickets.example/mcp?apiKey=0123456789abcdef", 1],
    ["http://me:0123456789@tickets.example/mcp", 1],
    ["http://127.0.0.1/mcp?apiKey=0123456789abcdef", 0],
    ["http://tickets.example/mcp?page=1", 0],
  ])("a key in the address %s gets %d warnings", async (url, warnings) => {
    const { problems } = await servers({ url });
    expect(problems.filter(({ message }) => message.includes("without encryption"))).toHaveLength(warnings);
  });

  test("keys of other programs get a hint, also at the top of the file", async () => {
    const servers = { x: { url: "https://x.example", serverUrl: "y" } };
    const { problems } = await read({ agents: { defaults: { mcpServers: servers } }, mcp: {}, mcpServers: {} });
    expect(problems).toMatchObject([
      { path: "agents.defaults.mcpServers.x.serverUrl", hint: "Did you mean url?" },
      { path: "mcp", hint: "Did you mean agents.defaults.mcpServers?" },
      { path: "mcpServers", hint: "Did you mean agents.defaults.mcpServers?" },
    ]);
  });

  test("those of an agent come in addition to the defaults, and one with the same name takes its place", async () => {
    const { used } = await read({
      agents: {
        defaults: { mcpServers: { files: { command: "a" }, "a.b": { command: "b" } } },
        list: [{ id: "main" }, { id: "writer", mcpServers: { files: { command: "c" } } }],
      },
    });
    const shown = (agent: string) => used(agent).map(([name, { command, path }]) => [name, command, path]);
    expect(shown("main")).toEqual([
      ["a.b", "b", 'agents.defaults.mcpServers["a.b"]'],
      ["files", "a", "agents.defaults.mcpServers.files"],
    ]);
    expect(shown("writer")).toEqual([
      ["a.b", "b", 'agents.defaults.mcpServers["a.b"]'],
      ["files", "c", "agents.list[1].mcpServers.files"],
    ]);
  });
});
