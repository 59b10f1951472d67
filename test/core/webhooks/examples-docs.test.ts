import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDocument } from "../../../core/config/reading/document.ts";
import { read } from "../../house/sources.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

const page = read("examples/reference/webhooks.md");
const [, examples = ""] = /\n## Five examples\n(.*?)\n## /s.exec(page) ?? [];
const parts = examples
  .split("\n### ")
  .slice(1)
  .map((part) => ({
    title: part.split("\n", 1)[0] ?? "",
    mapping: parseDocument(/```jsonc\n(.*?)```/s.exec(part)?.[1] ?? "", "page").value as object,
    script: /```sh\n(.*?)```/s.exec(part)?.[1] ?? "",
  }));

const environment = { HOOK_TOKEN: "hook-token-of-the-page", GITHUB_WEBHOOK_SECRET: "a secret of the page" };
const asked: string[] = [];
let host: TestHost;

beforeAll(async () => {
  const directory = temporaryDirectory();
  for (const name of ["github.ts", "message.ts"]) {
    cpSync(new URL(`../../../transforms/${name}`, import.meta.url), join(directory, "transforms", name));
  }
  host = await createTestHost({
    directory,
    environment,
    answer({ inbound }) {
      if (inbound.kind === "hook") asked.push(inbound.text);
      return "done";
    },
    config: {
      hooks: { token: { env: "HOOK_TOKEN" }, mappings: parts.map(({ mapping }) => mapping) },
      channels: { loopback: { allowFrom: ["7", "*"] } },
    },
  });
  await host.say("hello", { from: "7" });
});
afterAll(async () => {
  await host.close();
  removeDirectory(host.directory);
});

describe("the examples on the page", () => {
  test("are five, and none has an error", async () => {
    expect(parts).toHaveLength(5);
    const { gateway } = (await (await host.fetch("/gateway/describe")).json()) as {
      readonly gateway: { readonly problems: readonly object[] };
    };
    expect(gateway.problems).toEqual([]);
  });

  test.each(parts)("$title: runs as printed, and gets the printed answer", async ({ script }) => {
    const command = script
      .replaceAll("http://127.0.0.1:18789", host.url)
      .replace("curl ", 'curl -s -w "\\n%{http_code}" ');
    const { stdout } = await promisify(execFile)("sh", ["-c", command], {
      env: { PATH: process.env.PATH, ...environment },
    });
    const [body = "", status] = stdout.split("\n");
    const [, promised, shape = ""] = /^# (\d+) (.*)$/m.exec(script) ?? [];
    expect(status).toBe(promised);
    const ids = (value: unknown): unknown =>
      typeof value === "string" && /^[0-9a-z]{10,}$/.test(value) ? "..." : value;
    expect(JSON.parse(body, (_key, value) => ids(value))).toEqual(JSON.parse(shape));
    const { runIds = [], runId } = JSON.parse(body) as { readonly runIds?: readonly string[]; readonly runId?: string };
    for (const id of runId === undefined ? [] : [runId, ...runIds])
      expect((await host.settled(id)).outcome).toBe("answered");
  });

  test("reach the agent or the people that they are meant for", () => {
    const told = asked.join("\n---\n");
    for (const words of [
      "The door jams",
      "Ada <ada@example.org> writes:\nWhen do you open?",
      'Order 2 of north: ["lamp","lamp"]',
    ])
      expect(told).toContain(words);
    expect(host.outbox().map(({ text }) => text)).toContain("**Disk of db-3** is alerting: 91 percent full");
    expect(told).not.toContain("Disk of db-3");
  });
});
