/** The generated token of the management routes, which clients keep. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSecrets, type GatewayConfig } from "../../../core/config/index.ts";
import { gatewayToken } from "../../../core/http/index.ts";

const config = { gateway: { auth: {} } } as GatewayConfig;

test("the token is generated if missing and never replaced because its file is unreadable", () => {
  const state = mkdtempSync(join(tmpdir(), "token-"));
  onTestFinished(() => rmSync(state, { recursive: true }));
  const read = () => gatewayToken(config, state, createSecrets({ env: {}, directory: state }));
  const file = join(state, "gateway-token");
  const token = read();
  expect([readFileSync(file, "utf8"), read()]).toEqual([`${token}\n`, token]);

  // As root, a test can read any file: a directory stands for one that cannot be read.
  rmSync(file);
  mkdirSync(file);
  expect(read).toThrow(expect.objectContaining({ code: "secret_unavailable", message: expect.stringContaining(file) }));
  expect(statSync(file).isDirectory()).toBe(true);
});
