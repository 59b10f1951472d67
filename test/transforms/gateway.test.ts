import { createHmac } from "node:crypto";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createLoopback, repeat, startGateway, type TestGateway } from "../support/gateway.ts";
import { samplesOf } from "./deliveries.ts";

const secret = "a-secret-that-github-knows";
const readme = readFileSync(join(root, "transforms/README.md"), "utf8");

/** The README's configuration, with a channel of this test. */
function config(): object {
  const [, text = ""] = /```jsonc\n([\s\S]*?)```/.exec(readme) ?? [];
  const { hooks } = parse(text) as { readonly hooks: { readonly mappings: readonly object[] } };
  const [github] = hooks.mappings;
  const alerts = {
    id: "alerts",
    match: { path: "alerts" },
    transform: { module: "alerts.ts" },
    action: "wake",
    wakeMode: "next-heartbeat",
  };
  return { hooks: { ...hooks, mappings: [{ ...github, channel: "loopback", to: "42" }, alerts] } };
}

let directory: string;
let started: TestGateway;
const loopback = createLoopback();

beforeAll(async () => {
  directory = temporaryDirectory();
  mkdirSync(join(directory, "transforms"));
  for (const name of ["github.ts", "alerts.ts", "message.ts"]) cpSync(join(root, "transforms", name), join(directory, "transforms", name));
  started = await startGateway({
    directory,
    config: { ...config(), channels: { loopback: { enabled: true } } },
    plugins: [loopback.plugin, repeat],
    gateway: { environment: { HOOK_TOKEN: "the-token-of-the-hooks-0123", GITHUB_WEBHOOK_SECRET: secret } },
  });
});

afterAll(async () => {
  await started.gateway.close();
  removeDirectory(directory);
});

const post = (path: string, payload: unknown, headers: Readonly<Record<string, string>>) =>
  fetch(`${started.gateway.url}/hooks/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(payload),
  });

function fromGithub(name: string) {
  const context = samplesOf("github-cases").find((sample) => sample.name === name)?.context;
  const body = JSON.stringify(context?.payload);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return post("github", context?.payload, { ...context?.headers, "x-hub-signature-256": signature, "x-github-delivery": name });
}

describe("a gateway with ready-made transforms", () => {
  test("a signed delivery of GitHub is told to people as it is", async () => {
    const answer = await fromGithub("a pull request is merged");
    expect(answer.status).toBe(202);
    await loopback.sentCount(1);
    expect(loopback.sent[0]?.chat).toBe("42");
    expect(loopback.sent[0]?.text).toContain("octocat merged pull request [#42 Add");
  });

  test("what is noise is accepted, and nothing runs", async () => {
    expect((await fromGithub("a bot on its own branch")).status).toBe(204);
  });

  test("alerts with the hook token wake the agent", async () => {
    const context = samplesOf("alerts").find(({ name }) => name === "Alertmanager, one alert")?.context;
    const answer = await post("alerts", context?.payload, { authorization: "Bearer the-token-of-the-hooks-0123" });
    expect([answer.status, ((await answer.json()) as { readonly mode: string }).mode]).toEqual([200, "next-heartbeat"]);
  });
});
