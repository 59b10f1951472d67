/** The request that confirms a subscription, against a real server; `connect` stands in for the world. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buildConnector } from "undici";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { requestPublic } from "../../../core/media/public-request.ts";

const asked: string[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  asked.push(`${request.headers.host}${request.url}`);
  answer(response);
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  asked.length = 0;
  answer = (response) => response.end("<ConfirmSubscriptionResponse/>");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const host = "sns.eu-central-1.amazonaws.com";
const confirm = (address: string, timeoutMs?: number) => {
  const connected: string[] = [];
  const plain = buildConnector({});
  const done = requestPublic(`http://${host}/?Action=ConfirmSubscription`, {
    lookup: async () => [address],
    connect(options, callback) {
      connected.push(options.hostname);
      plain({ ...options, hostname: "127.0.0.1", port: String(port) }, callback);
    },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return { done, connected };
};

test("a request connects to the address that was looked up, after one lookup", async () => {
  const { done, connected } = confirm("93.184.215.14");
  await done;
  expect(connected).toEqual(["93.184.215.14"]);
  expect(asked).toEqual([`${host}/?Action=ConfirmSubscription`]);
});

test.each(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1"])(
  "%s is refused before connecting",
  async (address) => {
    const { done, connected } = confirm(address);
    await expect(done).rejects.toMatchObject({ reason: "address_not_public" });
    expect([connected, asked]).toEqual([[], []]);
  },
);

test("a server on this machine is also refused with the system's own lookup", async () => {
  await expect(requestPublic(`http://localhost:${port}/`)).rejects.toMatchObject({ reason: "address_not_public" });
  await expect(requestPublic(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ reason: "address_not_public" });
  expect(asked).toEqual([]);
});

test("a redirect is not followed and is a failure", async () => {
  answer = (response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/inside` }).end();
  await expect(confirm("93.184.215.14").done).rejects.toThrow("the platform answered 302");
  expect(asked).toHaveLength(1);
});

test("a server that does not respond is abandoned", async () => {
  answer = () => {};
  await expect(confirm("93.184.215.14", 100).done).rejects.toThrow(/timeout|aborted/i);
});
