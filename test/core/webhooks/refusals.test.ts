import { afterEach, expect, test, vi } from "vitest";
import type { Json } from "../../../core/contract/types.ts";
import { createRefusals, type RefusedHook, readRefusals } from "../../../core/webhooks/endpoint/refusals.ts";
import { createUnauthorizedLog } from "../../../core/webhooks/endpoint/unauthorized-log.ts";
import { type HookServer, startHooks } from "../http/fixture.ts";

let hooks: HookServer | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await hooks?.close();
  hooks = undefined;
});

/** What the server reports about each refused request. */
async function refusalsOf(
  mappings: readonly object[],
  ask: (server: HookServer) => Promise<unknown>,
): Promise<readonly RefusedHook[]> {
  const refused: RefusedHook[] = [];
  hooks = await startHooks({ hooks: { mappings }, deps: { onRefused: (one) => refused.push(one) } });
  await ask(hooks);
  return refused;
}

test("a request that no mapping accepts records which condition of match failed", async () => {
  const issues = { id: "issues", match: { path: "gh", headers: { "X-GitHub-Event": "issues" } }, messageTemplate: "x" };
  const opened = { id: "opened", match: { path: "gh", where: { action: "opened" } }, messageTemplate: "x" };
  const refused = await refusalsOf([issues, opened], async (server) => {
    const { status, json } = await server.post("gh", { action: "closed" }, { "x-github-event": "push" });
    expect({ status, json }).toMatchObject({
      status: 404,
      json: { code: "not_found", error: expect.not.stringContaining("closed") },
    });
    await server.post("other", {});
  });
  expect(refused).toMatchObject([
    {
      code: "not_found",
      detail:
        'No mapping takes this request. issues: headers.x-github-event is "push", not "issues"; opened: ' +
        'payload.action is "closed", not "opened"',
      path: "hooks.mappings",
    },
    { code: "not_found", detail: "There is nothing at this address." },
  ]);
});

test("a wrong secret names the setting of its path, not the hook token, which that path does not accept", async () => {
  const own = { match: { path: "ci" }, token: "a-token-of-the-build-server", messageTemplate: "x" };
  const signed = {
    match: { path: "gh" },
    signature: { scheme: "github", secret: "a-secret-of-the-code-host" },
    messageTemplate: "x",
  };
  const refused = await refusalsOf([own, signed], async (server) => {
    await server.post("ci", {});
    await server.post("gh", {});
  });
  expect(refused).toMatchObject([
    {
      code: "unauthorized",
      detail: "The secret of this path is wrong: the header authorization does not contain the secret.",
      path: "hooks.mappings[0].token",
      hint: "Let the sender send the secret of this setting. This path does not accept the hook token.",
    },
    {
      code: "signature_invalid",
      detail: "The signature is missing: the header x-hub-signature-256 is missing.",
      path: "hooks.mappings[1].signature.secret",
      hint: "Let the sender sign its requests. This path does not accept the hook token.",
    },
  ]);
});

test("refused requests are stored at once while they are few, and once a second in a flood", async () => {
  vi.useFakeTimers();
  const refusal = (at: number): RefusedHook => ({
    at,
    code: "not_found",
    status: 404,
    detail: "",
    subPath: "a",
    client: "",
  });
  const stored = new Map<string, Json>([["refused", [refusal(1)] as unknown as Json]]);
  let writes = 0;
  const get = async (_: string, key: string) => stored.get(key) ?? null;
  const update = async (_: string, key: string, change: (value: Json | null) => Json | null | undefined) => {
    writes += 1;
    stored.set(key, change(stored.get(key) ?? null) ?? null);
    return stored.get(key) ?? null;
  };
  const refusals = createRefusals({ store: { get, update } });
  const times = async () => (await readRefusals({ get })).map(({ at }) => at);
  refusals.add(refusal(2));
  refusals.add(refusal(3));
  await vi.advanceTimersByTimeAsync(0);
  expect(await times()).toEqual([1, 2, 3]);
  writes = 0;
  for (let at = 4; at <= 1_000; at += 1) refusals.add(refusal(at));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(writes).toBeLessThan(12);
  // The first ones were written at once; of the flood, the newest 50 of the second.
  expect(await times()).toEqual([
    ...Array.from({ length: 11 }, (_, index) => 1 + index),
    ...Array.from({ length: 50 }, (_, index) => 951 + index),
  ]);
});

test("the newest 1,000 refusals are stored once each, also over a restart", async () => {
  const refusal = (at: number): RefusedHook => ({
    at,
    code: "not_found",
    status: 404,
    detail: "",
    subPath: "a",
    client: "",
  });
  const stored = new Map<string, Json>();
  const get = async (_: string, key: string) => stored.get(key) ?? null;
  const update = async (_: string, key: string, change: (value: Json | null) => Json | null | undefined) => {
    stored.set(key, change(stored.get(key) ?? null) ?? null);
    return stored.get(key) ?? null;
  };
  for (let run = 0; run < 120; run += 1) {
    // A run ends with fewer than the newest list has room for.
    const refusals = createRefusals({ store: { get, update } });
    for (let index = 0; index < 9; index += 1) refusals.add(refusal(run * 9 + index));
    await new Promise(setImmediate);
  }
  expect((await readRefusals({ get })).map(({ at }) => at)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => 80 + index),
  );
});

test("wrong and missing tokens are logged once a minute with their number", async () => {
  vi.useFakeTimers();
  const lines: object[] = [];
  const say = createUnauthorizedLog({ warn: (fields: object) => void lines.push(fields) });
  const refused = (subPath: string): RefusedHook => ({
    at: 0,
    code: "unauthorized",
    status: 401,
    detail: "",
    subPath,
    client: "10.0.0.7",
  });
  for (const path of ["a", "b", "c"]) say(refused(path));
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.advanceTimersByTimeAsync(300_000);
  say(refused("d"));
  expect(lines).toEqual([
    { code: "unauthorized", count: 1, hook: "a", client: "10.0.0.7" },
    { code: "unauthorized", count: 2, hook: "c", client: "10.0.0.7" },
    { code: "unauthorized", count: 1, hook: "d", client: "10.0.0.7" },
  ]);
});
