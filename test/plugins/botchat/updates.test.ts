import type { Json } from "service-gateway/sdk";
import { describe, expect, test } from "vitest";
import { parseUpdate, updateKinds } from "../../../plugins/botchat/intake/parse.ts";
import { house, updates } from "../../fixtures/botchat/updates.ts";

const bot = { id: String(house.id), username: "house_bot" };

describe("an update", () => {
  test.each(Object.entries(updates))("%s", (_name, { update, becomes }) => {
    const parsed = parseUpdate(JSON.parse(JSON.stringify(update)) as Json, bot);
    if ("silent" in becomes) expect(parsed).toEqual(becomes);
    else expect(parsed).toMatchObject(becomes);
  });

  test("of each requested kind is covered, and none of another kind", () => {
    const kinds = Object.values(updates).map(({ update }) =>
      Object.keys(update).find((field) => field !== "update_id"),
    );
    expect([...new Set(kinds)].sort()).toEqual([...updateKinds].sort());
    for (const name of Object.keys(updates)) expect(updateKinds).toContain(name.split(" ")[0]);
  });
});
