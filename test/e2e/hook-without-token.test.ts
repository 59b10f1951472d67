/** A gateway without a hook token takes what has a credential of its own, and nothing else. */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { configure, startGatewayProcess, stop } from "./room.ts";

const secret = "a-long-secret-of-the-sender";
const body = '{"zen":"Keep it small."}';
const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const mapping = (path: string, more: object) => ({
  match: { path },
  messageTemplate: "{{ zen }}",
  deliver: false,
  ...more,
});
const signed = mapping("github", { signature: { scheme: "github", secret } });
const own = mapping("own", { token: secret });
const open = mapping("open", {});

test("only mappings with a credential of their own are served, and everything says so", async () => {
  const gateway = await startGatewayProcess({ hooks: { enabled: true, mappings: [signed, own, open] } });
  const post = async (path: string, headers: Readonly<Record<string, string>> = {}, method = "POST") => {
    const request = { method, headers: { "content-type": "application/json", ...headers } };
    const answer = await fetch(`${gateway.url}/hooks/${path}`, method === "POST" ? { ...request, body } : request);
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };
  expect(await post("github", { "x-hub-signature-256": signature })).toEqual([202, undefined]);
  expect(await post("github", { "x-hub-signature-256": `${signature.slice(0, -1)}x` })).toEqual([
    401,
    "signature_invalid",
  ]);
  expect(await post("own", { authorization: `Bearer ${secret}` })).toEqual([202, undefined]);
  const attempts: readonly Readonly<Record<string, string>>[] = [
    {},
    { authorization: "Bearer " },
    { authorization: "Bearer undefined" },
    { "x-service-token": secret },
  ];
  for (const headers of attempts)
    for (const path of ["wake", "agent", "open", "nowhere"])
      expect([path, ...(await post(path, headers))]).toEqual([path, 404, "hook_token_unset"]);
  expect(await post("runs/1", {}, "GET")).toEqual([404, "hook_token_unset"]);

  const from = { home: gateway.home };
  const doctor = await run(["doctor", "--config", gateway.file], from);
  expect(doctor.out).toContain("hooks.token is not set, so /hooks/wake and /hooks/agent are off");
  const list = await run(["hooks", "list", "--config", gateway.file], from);
  expect(list.out).toMatch(/wake .*off, because hooks\.token is not set/);
  expect(list.out).toContain(
    "hooks.mappings[2].signature is missing, and so is hooks.token: no request could be accepted",
  );
  const logged = await run(["logs", "--config", gateway.file], from);
  expect(logged.out).toContain("no hook token is set: wake and agent are off");
  await stop(gateway);
});

test.each([
  ["a mailbox", { imap: { accounts: { work: { host: "127.0.0.1", user: "ada", password: "pw" } } } }],
  ["a mailbox of Gmail", { gmail: { account: "ada@gmail.com", credentials: { file: "credentials.json" } } }],
])("%s needs no hook token", async (_name, source) => {
  const home = temporaryHome();
  const file = configure(home, { hooks: { enabled: true, ...source } });
  expect((await run(["config", "validate", "--config", file], { home })).out).not.toContain("hooks.token");
});

test("a preset with instructions only, which gets its deliveries by requests, needs the hook token", async () => {
  const home = temporaryHome();
  const file = configure(home, { hooks: { enabled: true, presets: ["gmail"], gmail: { instructions: "Sum up." } } });
  expect((await run(["config", "validate", "--config", file], { home })).out).toContain("hooks.token: is missing");
});

test.each([
  ["without a mapping", []],
  ["with mappings that have no credential", [open]],
])("the hook token is required %s", async (_name, mappings) => {
  const home = temporaryHome();
  const file = configure(home, { hooks: { enabled: true, mappings } });
  const { code, out } = await run(["config", "validate", "--config", file], { home });
  expect(code).toBe(1);
  expect(out).toContain(
    "hooks.token: is missing, and hooks.enabled needs it unless a mapping has a signature or token of its own",
  );
  expect(out.match(/hooks\.token:/g)).toHaveLength(1);
});
