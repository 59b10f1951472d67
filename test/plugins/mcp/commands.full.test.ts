/** `service mcp`, `service doctor` and `service status` about MCP servers, with and without a gateway. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "../../core/cli/command.ts";
import { run } from "../../core/cli/command-runner.ts";
import { startGateway } from "../../core/cli/gateway-runner.ts";
import { program, runs, until } from "./room.ts";

test("the commands report what works, what does not and why, before the gateway runs and while it runs", async () => {
  const home = temporaryHome();
  const servers = {
    files: program([], { approve: "writes", env: { KEY: { env: "FILES_KEY" } }, tools: { deny: ["wait"] } }),
    lost: {
      command: "no-such-mcp-server",
      args: [
        "-y",
        "@acme/server",
        "--api-key",
        "key-in-the-arguments",
        "--token=token-in-the-arguments",
        "postgres://ada:password-in-it@db/x",
      ],
    },
    far: { url: "http://127.0.0.1:9/mcp?api_key=key-in-the-address" },
  };
  mkdirSync(join(home, ".service"));
  const config = { gateway: { port: 0 }, agents: { defaults: { mcpServers: servers } } };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config), { mode: 0o600 });
  const env = { FILES_KEY: "key-of-files" };
  const mcp = async (...args: readonly string[]) => await run(["mcp", ...args], { home, env });

  const works = await mcp("test", "files");
  expect(works).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^files works: fake 1\.2\.3, protocol \S+, 5 tools, \d+ ms\.\necho +read-only\n/),
  });
  expect(works.out).toMatch(/^wait +left out$/m);
  expect(await mcp("test", "lost")).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^lost \(agents\.defaults\.mcpServers\.lost\) does not work: the command no-such-mcp-server is not on PATH\.\nInstall it, or set command/,
    ),
  });
  expect(await mcp("test", "other")).toMatchObject({
    code: 1,
    out: expect.stringContaining("There are: far, files, lost."),
  });
  const idle = (await mcp("list")).out;
  expect(idle).toContain("No gateway is running.");
  expect(idle).toContain("http://127.0.0.1:9/mcp ");
  expect(idle).not.toContain("key-in-the-address");
  expect(idle).toContain("no-such-mcp-server -y @acme/server --api-key *** --token=*** postgres://db/x");

  const gateway = startGateway(["gateway"], { home, env });
  await gateway.until(/the gateway is up/);
  await gateway.until(/an MCP server is ready/);
  const listed = await mcp("list");
  expect(listed.out).toMatch(/^files +ready +4 of 5 tools +\S+ .+ fake 1\.2\.3 +main$/m);
  expect(listed.out).toMatch(/^lost: the command no-such-mcp-server is not on PATH\. Install it/m);
  expect(JSON.parse((await mcp("tools", "files", "--json")).out)).toContainEqual(
    expect.objectContaining({ server: "files", name: "files__get-env", asks: true, offered: true }),
  );
  expect((await mcp("accept", "files")).out).toBe("No tool is new or has changed.\n");
  expect((await mcp("restart", "files")).out).toBe("files is ready, with 5 tools.\n");
  expect(await mcp("restart", "other")).toMatchObject({ code: 1 });
  const doctor = JSON.parse((await run(["doctor", "--json"], { home, env })).out) as { findings: object[] };
  expect(doctor.findings).toContainEqual(
    expect.objectContaining({ check: "mcp: servers", reason: expect.stringContaining("lost is") }),
  );
  expect((await run(["status"], { home, env })).out).toMatch(/^mcp:lost +(retrying|paused) +The command no-such/im);

  // A gateway that is killed closes nothing, but the input of its servers ends.
  const running = JSON.parse((await mcp("list", "--json")).out) as { name: string; pid?: number }[];
  const pid = running.find(({ name }) => name === "files")?.pid ?? 0;
  expect(runs(pid)).toBe(true);
  gateway.child.kill("SIGKILL");
  await until(() => !runs(pid));
});
