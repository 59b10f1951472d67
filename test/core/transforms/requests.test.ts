/** What a transform's `fetch` sends on when a server redirects it. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buildConnector } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { createPublicAgent } from "../../../core/media/public-agent.ts";
import { send } from "../../../core/transforms/requests.ts";

/** One server for all hosts. `/start` redirects to the address that is given. */
async function open(target: string) {
  const asked: { readonly at: string; readonly headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    asked.push({ at: `${request.headers.host}${request.url}`, headers: request.headers });
    if (request.url === "/start") response.writeHead(307, { location: target });
    response.end("done");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const plain = buildConnector({});
  const agent = createPublicAgent({
    lookup: async () => ["93.184.215.14"],
    connect: (options, callback) => plain({ ...options, hostname: "127.0.0.1", port: String(port) }, callback),
  });
  onTestFinished(async () => {
    await agent.destroy();
    server.close();
  });
  return { asked, agent };
}

const headers = [
  ["X-Api-Key", "secret-key"],
  ["authorization", "Bearer secret-token"],
  ["content-type", "application/json"],
] as const;
const post = { address: "http://first.example/start", method: "POST", headers, body: "{}" };

test("a redirect to another server gets none of the module's own headers", async () => {
  const { asked, agent } = await open("http://second.example/there");
  expect(JSON.parse(await send(post, agent))).toMatchObject({ response: { status: 200, body: "done" } });
  expect(asked.map(({ at }) => at)).toEqual(["first.example/start", "second.example/there"]);
  expect(asked[0]?.headers).toMatchObject({ "x-api-key": "secret-key", authorization: "Bearer secret-token" });
  expect(JSON.stringify(asked[1]?.headers)).not.toContain("secret");
  expect(asked[1]?.headers).toMatchObject({ "content-type": "application/json" });
});

test("a redirect within the server keeps them", async () => {
  const { asked, agent } = await open("/there");
  await send(post, agent);
  expect(asked[1]?.headers).toMatchObject({ "x-api-key": "secret-key", authorization: "Bearer secret-token" });
});
