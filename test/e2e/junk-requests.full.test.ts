/**
 * Requests with bodies that are no message, with a token and without: the gateway answers each, and names nothing in
 * its log.
 */
import { afterAll, expect, test } from "vitest";
import { burst, junkTexts } from "../support/junk.ts";
import { sendJunkRequests } from "../support/junk-requests.ts";
import { bearer, closeHookGateways, hookToken, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const all = burst + junkTexts.length;
const total = (statuses: Readonly<Record<string, number>>) =>
  Object.values(statuses).reduce((sum, count) => sum + count);

test.each([
  ["of a sender with the token", { authorization: bearer[1] }, /^(?:400|413|415|429)$/],
  ["of a stranger", { authorization: "Bearer guess" }, /^(?:401|429|cut)$/],
])("junk requests %s are refused, 10,000 times over", { timeout: 120_000 }, async (_, headers, expected) => {
  const room = await startHookGateway({});
  const statuses = await sendJunkRequests(`http://127.0.0.1:${room.port}/hooks/agent`, {
    headers: { ...headers, "content-type": "application/json" },
  });
  expect(total(statuses)).toBe(all);
  expect(Object.keys(statuses).filter((status) => !expected.test(status))).toEqual([]);
  // From another client, because this one is limited now.
  const answer = await fetch(`http://127.0.0.1:${room.port}/hooks/wake`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${hookToken}`,
      "content-type": "application/json",
      "x-forwarded-for": "10.9.8.7",
    },
    body: JSON.stringify({ text: "still here", mode: "next-heartbeat" }),
  });
  expect(answer.status).toBe(200);
});

test("junk in place of the parts of a form, 10,000 times, is rejected, and the next form is read", {
  timeout: 120_000,
}, async () => {
  const mapping = {
    match: { path: "form" },
    action: "wake",
    wakeMode: "next-heartbeat",
    textTemplate: "{{ name }}",
    body: "form",
  };
  const room = await startHookGateway({ hooks: { mappings: [mapping] } });
  const url = `http://127.0.0.1:${room.port}/hooks/form`;
  const headers = { authorization: `Bearer ${hookToken}`, "content-type": "multipart/form-data; boundary=x" };
  const statuses = await sendJunkRequests(url, { headers });
  expect(total(statuses)).toBe(all);
  expect(Object.keys(statuses).filter((status) => !/^(?:400|413|415|429)$/.test(status))).toEqual([]);
  const body = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nAda\r\n--x--\r\n';
  const answer = await fetch(url, { method: "POST", headers: { ...headers, "x-forwarded-for": "10.9.8.7" }, body });
  expect(answer.status).toBe(200);
});
