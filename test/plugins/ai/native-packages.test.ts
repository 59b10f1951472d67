import { registerHooks } from "node:module";
import { expect, onTestFinished, test, vi } from "vitest";
import { explainProtocols } from "../../../plugins/ai/native/explain.ts";
import { createNatives, vendorOf } from "../../../plugins/ai/native/packages.ts";
import { say } from "../../openai-server/answers.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, turnOf } from "./engine.ts";

const absent = Object.assign(new Error("Cannot find package '@ai-sdk/google'"), { code: "ERR_MODULE_NOT_FOUND" });

function open() {
  const load = {
    anthropic: vi.fn(async () => "anthropic"),
    google: vi.fn(async () => Promise.reject(absent)),
    openai: vi.fn(async () => Promise.reject(new SyntaxError("not a module"))),
  };
  const onBroken = vi.fn();
  return { load, onBroken, natives: createNatives({ load, onBroken }) };
}

test("a package is loaded when a model of its vendor is asked, once, and no other", async () => {
  const { load, natives } = open();
  const providers = [{ api: "anthropic" }, { api: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" }] as const;
  expect(await natives.of(providers)).toEqual({ anthropic: "anthropic" });
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
  expect(reason).toContain("`npm install @ai-sdk/google`");
});

test("a package that cannot be used is reported, and chat completions are used", async () => {
  const { natives, onBroken } = open();
  expect(await natives.of([{ api: "openai" }, { api: "openai" }])).toEqual({});
  expect(onBroken).toHaveBeenCalledExactlyOnceWith("openai", expect.any(SyntaxError));
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
