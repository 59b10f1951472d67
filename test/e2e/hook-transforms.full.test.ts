/** Code that misbehaves costs its own call, within its limit, and nobody else notices. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeHookGateways, type HookGateway } from "./hook-room.ts";
import { call, fileOf, spoilt, startSpoilt, strange } from "./spoilt-transforms.ts";

afterAll(closeHookGateways);

let room: HookGateway;
beforeAll(async () => {
  room = await startSpoilt();
  expect((await room.post("good", { n: 0 })).status).toBe(200);
});

describe("a transform that", () => {
  test.each(Object.keys(spoilt))(
    "%s: that call gets 500 mapping_failed within its limit, and the next one succeeds",
    async (name) => {
      const answer = await call(room, name);
      expect({ status: answer.status, json: answer.json }).toEqual({
        status: 500,
        json: { ok: false, code: "mapping_failed", error: expect.stringMatching(/^\S[^\n]*\.$/) },
      });
      expect(answer.body).not.toContain("secret-of-the-code");
      expect((await call(room, "good")).status).toBe(200);
    },
  );

  test.each(Object.keys(strange))("%s: that call ends within its limit, and the next one succeeds", async (name) => {
    for (const { status, json } of [await call(room, name), await call(room, name)]) {
      expect([200, 500]).toContain(status);
      if (status === 500) expect(json?.code).toBe("mapping_failed");
    }
    const { json } = await call(room, "good");
    expect(json?.ok).toBe(true);
    expect(({} as { readonly polluted?: unknown }).polluted).toBeUndefined();
  });
});

test.each(["loops", "loops when it is loaded"])(
  "a transform that %s is ended by its CPU limit, and the log says so",
  async (name) => {
    await call(room, name);
    const log = () => readFileSync(join(room.directory, "state", "logs", "gateway.log"), "utf8").split("\n");
    await expect
      .poll(() => log().filter((line) => line.includes(fileOf(name))))
      .toContainEqual(expect.stringMatching(/It computed for more than \d+ ms \(hooks\.transforms\.cpuMs\)/));
  },
);

test("an edited transform is used from the next request on, and an edit repairs a broken one", async () => {
  const file = join(room.directory, "transforms", fileOf("does not parse"));
  expect((await call(room, "does not parse")).status).toBe(500);
  writeFileSync(file, "export default () => null;");
  expect((await call(room, "does not parse")).status).toBe(204);
  writeFileSync(file, spoilt["does not parse"] ?? "");
  expect((await call(room, "does not parse")).status).toBe(500);
});
