import { createHmac } from "node:crypto";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { createTestHost, type TestHost } from "service-gateway/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../house/sources.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { samplesOf } from "./deliveries.ts";

const secret = "a-secret-that-github-knows";
const readme = readFileSync(join(root, "transforms/README.md"), "utf8");

/** The README's configuration, with a channel of this test. */
function config(): Record<string, unknown> {
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
let host: TestHost;

beforeAll(async () => {
  directory = temporaryDirectory();
  mkdirSync(join(directory, "transforms"));
  for (const name of ["github.ts", "alerts.ts", "message.ts"])
    cpSync(join(root, "transforms", name), join(directory, "transforms", name));
  host = await createTestHost({
    directory,
    config: config(),
    environment: { HOOK_TOKEN: "the-token-of-the-hooks-0123", GITHUB_WEBHOOK_SECRET: secret },
  });
});

afterAll(async () => {
  await host.close();
  removeDirectory(directory);
});

const post = (path: string, payload: unknown, headers: Readonly<Record<string, string>>) =>
  fetch(`${host.url}/hooks/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(payload),
  });

function fromGithub(name: string) {
  const context = samplesOf("github-cases").find((sample) => sample.name === name)?.context;
  const body = JSON.stringify(context?.payload);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return post("github", context?.payload, {
    ...context?.headers,
    "x-hub-signature-256": signature,
    "x-github-delivery": name,
  });
}

describe("a gateway with the bundled transforms", () => {
  test("delivers the message for a signed GitHub delivery unchanged", async () => {
    const answer = await fromGithub("a pull request is merged");
    expect(answer.status).toBe(202);
    await host.settled(((await answer.json()) as { readonly eventId: string }).eventId);
    expect(host).toHaveDelivered("octocat merged pull request [#42 Add", { chat: "42" });
  });

  test("accepts irrelevant deliveries without running anything", async () => {
    expect((await fromGithub("a bot on its own branch")).status).toBe(204);
  });

  test("wakes the agent for an alert with the hook token", async () => {
    const context = samplesOf("alerts").find(({ name }) => name === "Alertmanager, one alert")?.context;
    const answer = await post("alerts", context?.payload, { authorization: "Bearer the-token-of-the-hooks-0123" });
    expect([answer.status, ((await answer.json()) as { readonly mode: string }).mode]).toEqual([200, "next-heartbeat"]);
  });
});
