/**
 * Programs of servers that do not want to end, lines that do not, and what of them becomes of a gateway that is closed
 * or killed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTail } from "../../../plugins/mcp/program/tail.ts";
import { shownAddress, withoutSecrets } from "../../../plugins/mcp/settings.ts";
import { temporaryHome } from "../../core/cli/command.ts";
import { startGateway } from "../../core/cli/gateway-runner.ts";
import { failureOf, notes, openRoom, program, runs, until } from "./room.ts";

const pidsOf = (lines: readonly string[]) => lines.map((line) => Number(line.split(" ")[1])).filter((pid) => pid > 0);

test("a program that ignores closed input and SIGTERM still ends with the gateway, and its children", async () => {
  const noted = notes();
  const room = await openRoom({ files: program(["stubborn"], { env: noted.env }) });
  await room.ask("names");
  const pids = pidsOf(await until(noted.read, (lines) => lines.length === 3));
  expect(pids.map(runs)).toEqual([true, true, true]);
  await room.host.close();
  expect(pids.map(runs)).toEqual([false, false, false]);
});

test("processes left by a killed gateway end at the next start", async () => {
  const home = temporaryHome();
  const noted = notes();
  mkdirSync(join(home, ".service"));
  const mcpServers = { files: program(["stubborn"], { env: noted.env }) };
  const config = { gateway: { port: 0 }, agents: { defaults: { mcpServers } } };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config), { mode: 0o600 });
  const first = startGateway(["gateway"], { home });
  await first.until(/an MCP server is ready/);
  const pids = pidsOf(noted.read());
  onTestFinished(() => {
    for (const pid of pids) if (runs(pid)) process.kill(pid, "SIGKILL");
  });
  first.child.kill("SIGKILL");
  await until(() => !runs(first.child.pid ?? 0));
  expect(pids.map(runs)).toEqual([true, true, true]);
  const second = startGateway(["gateway"], { home });
  await second.until(/a killed gateway had left is ended/);
  await until(() => !pids.some(runs));
  await second.until(/an MCP server is ready/);
  const now = pidsOf(noted.read()).slice(3);
  expect(now.map(runs)).toEqual([true, true, true]);
  second.child.kill("SIGTERM");
  await until(() => !now.some(runs));
});

test("an endless line stops the program, with the reason", async () => {
  const room = await openRoom({ files: program(["endless"]) });
  await room.ask("names");
  expect(failureOf(await room.ask("files__echo"))).toMatchObject({ code: "mcp_outcome_unknown" });
  const { servers } = (await room.route("GET", "servers")) as unknown as { servers: { reason: string }[] };
  expect(servers[0]?.reason).toBe("it wrote a message of more than 32 MB and was ended");
});

test("a secret is hidden before a line is truncated", () => {
  const hide = (text: string) => text.replaceAll("key-of-files", "***");
  const lines: string[] = [];
  const tail = createTail((line) => lines.push(line), hide);
  tail.write(`${"x".repeat(495)} key-of`);
  tail.write("-files\nlast key-of-files");
  expect([...lines, ...tail.lines()].join(" ")).not.toContain("key");
});

test("an address is shown without possible keys, and errors hide them", () => {
  const url = "https://user:pass-word@mcp.example.com/s/AbC123xyz789/v1/mcp?api_key=query-key";
  expect(shownAddress(url)).toBe("https://mcp.example.com/s/***/v1/mcp");
  expect(withoutSecrets("no AbC123xyz789, query-key or pass-word", { kind: "http", url, headers: {} })).toBe(
    "no ***, *** or ***",
  );
});
