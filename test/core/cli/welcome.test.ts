import { expect, test } from "vitest";
import type { Terminal } from "../../../core/cli/output/terminal.ts";
import { welcome } from "../../../core/cli/start/welcome.ts";

test("the welcome says that a configuration without the playground has no page", () => {
  const lines: string[] = [];
  const terminal = {
    line: (text: string) => lines.push(text),
    style: (_: string, text: string) => text,
  } as unknown as Terminal;
  const at = {
    gateway: "http://127.0.0.1:1",
    hooks: "http://127.0.0.1:1/hooks",
    channel: "botchat",
    directory: "/d",
    stateFlag: "",
  };
  welcome(terminal, { ...at, failures: [] });
  expect(lines.join("\n")).toMatch(/Page {5}none: the configuration has no playground\n/);
  welcome(terminal, { ...at, failures: [], page: "http://127.0.0.1:2" });
  expect(lines.join("\n")).toContain("Page     http://127.0.0.1:2/");
});
