import { definePlugin, type PluginDefinition, type PluginHost } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { describe, expect, test } from "vitest";
import { checkDeclaration } from "../../../core/host/declare.ts";

const plugin = (id: string, setup: (host: PluginHost) => void): PluginDefinition =>
  definePlugin({ id, version: "1.0.0", host: "^0.2.0", setup });

test("a token opens the management routes if one plugin accepts it; a failing plugin accepts none", async () => {
  let late: PluginHost | undefined;
  await using host = await createTestHost({
    // What the broken plugin says is logged.
    allowErrors: [/no disk/, /careless/],
    plugins: [
      plugin("broken", (host) => host.devices(() => Promise.reject(new Error("no disk")))),
      plugin("careless", (host) => host.devices(() => "yes" as unknown as boolean)),
      plugin("careful", (host) => {
        late = host;
        host.devices((token) => token === "tablet");
      }),
    ],
  });
  const status = async (token: string) =>
    (await host.fetch("/gateway/describe", { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status("tablet")).toBe(200);
  expect(await status("phone")).toBe(401);
  expect(() => late?.devices(() => true)).toThrow("devices was called after setup");
});

describe("a plugin's commands for the command line", () => {
  const declare = (cli: object) =>
    checkDeclaration("mine", { id: "mine", version: "1.0.0", host: "^0.2.0", setup() {}, cli });
  const run = () => ({ lines: [], data: null });

  test("are accepted as declared", () => {
    expect(
      declare({ name: "mine", summary: "Mine.", commands: [{ name: "list", args: ["<a>", "[b]"], run }] }).cli?.name,
    ).toBe("mine");
  });

  test.each([
    [{ name: "Mine", commands: [] }, "the name of its cli"],
    [{ name: "mine" }, "needs a list of commands"],
    [{ name: "mine", commands: [{ name: "do it now", run }] }, "the command do it now of its cli"],
    [
      {
        name: "mine",
        commands: [
          { name: "list", run },
          { name: "list", run },
        ],
      },
      "its cli mine has the command list twice",
    ],
    [{ name: "mine", commands: [{ name: "Do it", run }] }, "the command Do it of its cli"],
    [{ name: "mine", commands: [{ name: "list", args: ["a"], run }] }, "must be written <name> or [name]"],
    [{ name: "mine", commands: [{ name: "list" }] }, "has no run function"],
  ])("%j is rejected with the reason", (cli, reason) => {
    expect(() => declare(cli)).toThrow(reason);
  });
});
