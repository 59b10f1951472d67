import { registerHooks } from "node:module";
import { expect, onTestFinished, test, vi } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { explainProtocols } from "../../../plugins/ai/native/explain.ts";
import { createNatives, neededMajor, vendorOf } from "../../../plugins/ai/native/packages.ts";
import { say } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

const absent = Object.assign(new Error("Cannot find package '@ai-sdk/google' imported from /here/packages.js"), {
  code: "ERR_MODULE_NOT_FOUND",
});
const create = () => {};

function open() {
  const load = {
    anthropic: vi.fn(async () => ({ create, version: "4.0.1" })),
    google: vi.fn(async () => Promise.reject(absent)),
    openai: vi.fn(async () => Promise.reject(new SyntaxError("not a module"))),
  };
  const onBroken = vi.fn();
  return { load, onBroken, natives: createNatives({ load, onBroken }) };
}

test("a package is loaded when a model of its vendor is asked, once, and no other", async () => {
  const { load, natives } = open();
  const providers = [{ api: "anthropic" }, { api: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" }] as const;
  expect(await natives.of(providers)).toEqual({ anthropic: create });
  await natives.of(providers);
  expect([load.anthropic, load.google, load.openai].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  expect(await explainProtocols(natives.missing())).toMatchObject({ verdict: "ok" });
});

test("doctor names what a missing package adds, and the command that installs it, as no fault", async () => {
  const { natives, onBroken } = open();
  expect(await natives.of([{ api: "google" }])).toEqual({});
  expect(onBroken).not.toHaveBeenCalled();
  const { verdict, reason } = await explainProtocols(natives.missing());
  expect(verdict).toBe("ok");
  expect(reason).toContain("google is asked through chat completions, and its own protocol keeps thoughts");
  expect(reason).toContain("`npm install @ai-sdk/google@4`");
});

test("the command installs the major version that this program is tested with", () => {
  for (const vendor of ["anthropic", "google", "openai"] as const)
    expect(manifest.peerDependencies[`@ai-sdk/${vendor}`]).toMatch(new RegExp(`^\\^${neededMajor}\\.`));
});

const lacksAnother = Object.assign(new Error("Cannot find package '@ai-sdk/provider' imported from /there/index.js"), {
  code: "ERR_MODULE_NOT_FOUND",
});

test.each<[string, () => Promise<{ create: unknown; version: unknown }>, string]>([
  ["is no module", () => Promise.reject(new SyntaxError("not a module\nat line 3")), "not a module"],
  ["lacks another package", () => Promise.reject(lacksAnother), "Cannot find package '@ai-sdk/provider'"],
  ["is too old", async () => ({ create, version: "3.1.4" }), "its version is 3.1.4, and version 4 is needed"],
  ["is too new", async () => ({ create, version: "5.0.0-beta.1" }), "its version is 5.0.0-beta.1, and version 4"],
  ["is of unknown age", async () => ({ create: undefined, version: undefined }), "its version is unknown"],
])("a package that %s is a warning with the remedy, and chat completions are used", async (_, load, fault) => {
  const onBroken = vi.fn();
  const natives = createNatives({ load: { ...open().load, openai: load }, onBroken });
  expect(await natives.of([{ api: "openai" }, { api: "openai" }])).toEqual({});
  expect(onBroken).toHaveBeenCalledExactlyOnceWith("openai", expect.stringContaining(fault));
  const { verdict, reason, fix } = await explainProtocols(natives.missing());
  expect({ verdict, reason }).toEqual({
    verdict: "warn",
    reason: expect.stringContaining(`@ai-sdk/openai is installed and cannot be used (${fault}`),
  });
  expect(reason).not.toContain("\n");
  expect(fix).toContain("`npm install @ai-sdk/openai@4`");
});

test.each([
  [{ api: "openai-compatible" }, undefined],
  [{ api: "anthropic", protocol: "chat" }, undefined],
  [{ api: "anthropic", baseUrl: "https://proxy.example/v1" }, "anthropic"],
  [{ api: "google", baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai/" }, undefined],
  [{ api: "google", baseUrl: "https://generativelanguage.googleapis.com/v1beta" }, "google"],
] as const)("the provider %j speaks the protocol of %s", (provider, vendor) => {
  expect(vendorOf(provider)).toBe(vendor);
});

test("a turn whose vendor's package is not installed is answered through chat completions", async () => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "@ai-sdk/google") throw absent;
      return next(specifier, context);
    },
  });
  onTestFinished(() => hooks.deregister());
  const server = await createOpenAiServer({ answer: () => say("By chat.") });
  onTestFinished(() => server.close());
  const { engine, errors, warnings } = openEngine();
  const providers = { vendor: { api: "google", baseUrl: server.url } } as const;
  const turn = turnOf("hi", { providers, model: "vendor/gemini" });
  const { text } = await collect(engine.run(turn, new AbortController().signal));
  expect(text).toBe("By chat.");
  expect(server.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
  expect([...errors, ...warnings]).toEqual([]);
});
