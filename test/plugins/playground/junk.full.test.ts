/** Requests to the emulated platform whose bodies are no call. */
import { expect, test } from "vitest";
import { sendJunkRequests } from "../../support/junk-requests.ts";
import { openPlatform, token } from "./client.ts";

test("10,000 in a row are refused, and the next call is answered", async () => {
  await using home = await openPlatform();
  const url = `${home.platform.url}/bot${token}/sendMessage`;
  const statuses = await sendJunkRequests(url, { headers: { "content-type": "application/json" } });
  expect(Object.keys(statuses).filter((status) => !["400", "413", "429"].includes(status))).toEqual([]);
  expect((await home.call("getMe")).ok).toBe(true);
});
