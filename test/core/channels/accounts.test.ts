import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineChannel, Type } from "../../../core/sdk/contract.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { startGateway, type TestGateway } from "../../support/gateway.ts";

let directory: string;
let running: TestGateway | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  await running?.gateway.close();
  running = undefined;
  removeDirectory(directory);
});

/** Opens a channel under a configuration, and returns the options that it was handed. */
async function optionsOf(channel: object, environment: Record<string, string> = {}): Promise<Record<string, unknown>> {
  let handed: Record<string, unknown> = {};
  const probe = defineChannel({
    id: "probe",
    version: "1.0.0",
    host: "^0.2.0",
    options: Type.Object({
      token: Type.Optional(Type.String()),
      tokenFile: Type.Optional(Type.String()),
      polling: Type.Object(
        { seconds: Type.Integer({ default: 30 }), stall: Type.Integer({ default: 120 }) },
        { default: {} },
      ),
    }),
    secrets: ["token"],
    credentials: ["token", "tokenFile"],
    secretFiles: { tokenFile: "token" },
    environment: { token: "PROBE_DEFAULT_TOKEN" },
    capabilities: {
      maxChars: 1_000,
      markup: "plain",
      edits: false,
      threads: false,
      reactions: false,
      media: false,
      buttons: false,
      typing: false,
      menu: false,
    },
    open(account) {
      handed = account.options as Record<string, unknown>;
      return {
        start: async () => {},
        parse: () => null,
        render: () => [],
        send: async () => ({ messageId: "1" }),
        close: async () => {},
      };
    },
  });
  running = await startGateway({
    directory,
    config: { channels: { probe: channel } },
    plugins: [probe],
    gateway: { environment },
  });
  return handed;
}

describe("a channel receives its options", () => {
  test("with the defaults that a partly filled object leaves out", async () => {
    expect(await optionsOf({ token: "a-token", polling: { seconds: 5 } })).toMatchObject({
      polling: { seconds: 5, stall: 120 },
    });
  });

  test("with secrets resolved", async () => {
    expect(await optionsOf({ token: { env: "PROBE_TOKEN" } }, { PROBE_TOKEN: "from-outside" })).toMatchObject({
      token: "from-outside",
    });
  });

  test("together with the gateway's own options and their defaults", async () => {
    expect(await optionsOf({ token: "a-token", dmPolicy: "disabled" })).toMatchObject({
      dmPolicy: "disabled",
      configWrites: true,
    });
  });
});

describe("the source of a credential", () => {
  const opened = async (channel: object, environment?: Record<string, string>) =>
    (await optionsOf(channel, environment)).token;

  test("a file beside the configuration takes precedence over the option", async () => {
    writeFileSync(join(directory, "token"), "from-the-file\n");
    expect(await opened({ tokenFile: "token", token: "from-the-option" })).toBe("from-the-file");
  });

  test.each([
    ["missing", undefined],
    ["empty", "\n"],
  ])("a file that is %s is an error, and no other source is tried", async (_name, text) => {
    if (text !== undefined) writeFileSync(join(directory, "token"), text);
    expect(await opened({ tokenFile: "token", token: "from-the-option" })).toBeUndefined();
    const [report] = (await running?.gateway.describe())?.accounts ?? [];
    expect(report?.status.state).toBe("failed");
    expect(report?.status.detail).toContain("channels.probe.tokenFile");
  });

  test("the environment is used only for the account default, if nothing is configured", async () => {
    const environment = { PROBE_DEFAULT_TOKEN: "from-outside" };
    expect(await opened({}, environment)).toBe("from-outside");
    await running?.gateway.close();
    expect(await opened({ token: "configured" }, environment)).toBe("configured");
  });

  test("a named account ignores the root and the environment; the account default prefers its own value", async () => {
    expect(
      await opened({ token: "of-the-root", accounts: { work: {} } }, { PROBE_DEFAULT_TOKEN: "from-outside" }),
    ).toBeUndefined();
    await running?.gateway.close();
    writeFileSync(join(directory, "token"), "file-of-the-root");
    expect(await opened({ tokenFile: "token", accounts: { Default: { token: "its-own" } } })).toBe("its-own");
  });

  test("two accounts with the same credential: the second is rejected", async () => {
    await optionsOf({ accounts: { first: { token: "the-same" }, second: { token: "the-same" } } });
    const accounts = (await running?.gateway.describe())?.accounts ?? [];
    expect(accounts.find(({ account }) => account === "second")?.status).toMatchObject({ state: "failed" });
    expect(JSON.stringify(accounts)).not.toContain("the-same");
  });
});
