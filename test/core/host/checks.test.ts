import { createTestHost } from "service-gateway/testkit";
import { describe, expect, test } from "vitest";
import { type CheckDefinition, definePlugin } from "../../../core/sdk/contract.ts";

async function ask(
  checks: readonly CheckDefinition[],
  body: object = {},
  { token, path = "checks" }: { readonly token?: string; readonly path?: string } = {},
) {
  const plugin = definePlugin({
    id: "postbox",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      for (const check of checks) host.check(check);
    },
  });
  await using host = await createTestHost({ plugins: [plugin] });
  const response = await host.fetch(`/gateway/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as { readonly checks?: readonly object[] }) };
}

describe("plugin checks", () => {
  test("report their verdicts; a check that throws fails alone and does not stop the others", async () => {
    const { checks } = await ask([
      { name: "full", explain: async () => ({ verdict: "warn", reason: "It is nearly full.", fix: "Empty it." }) },
      {
        name: "broken",
        explain: async () => {
          throw new Error("no key");
        },
      },
      { name: "fine", explain: async () => ({ verdict: "ok", reason: "It is there." }) },
    ]);
    expect(checks).toEqual([
      {
        plugin: "postbox",
        name: "full",
        verdict: "warn",
        reason: "It is nearly full.",
        fix: "Empty it.",
        fixable: false,
      },
      { plugin: "postbox", name: "broken", verdict: "fail", reason: "the check itself failed: no key", fixable: false },
      { plugin: "postbox", name: "fine", verdict: "ok", reason: "It is there.", fixable: false },
    ]);
  });

  test("fix only what they found, and only the check that is asked to", async () => {
    const mended: string[] = [];
    const check = (name: string, verdict: "ok" | "warn"): CheckDefinition => ({
      name,
      explain: async () => ({ verdict, reason: "so" }),
      async fix() {
        mended.push(name);
        return "done";
      },
    });
    const { checks } = await ask([check("one", "warn"), check("two", "warn")], {
      fix: { plugin: "postbox", name: "one" },
    });
    expect(checks).toMatchObject([{ name: "one", done: "done" }]);
    expect(mended).toEqual(["one"]);
  });

  test("do not run, and no platform is probed, without the gateway token", async () => {
    let ran = false;
    const explain: CheckDefinition["explain"] = async () => {
      ran = true;
      return { verdict: "ok", reason: "so" };
    };
    expect(await ask([{ name: "one", explain }], {}, { token: "wrong" })).toMatchObject({ status: 401 });
    expect(await ask([], {}, { token: "wrong", path: "probe" })).toMatchObject({ status: 401 });
    expect(ran).toBe(false);
  });
});
