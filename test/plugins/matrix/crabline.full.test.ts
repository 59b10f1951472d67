/**
 * A second opinion: the Matrix server of crabline, unchanged. It lacks invitations, `/messages`, single events,
 * relations, redactions, files, keys and the file for clients, so none of them is tried here.
 */
import { pathToFileURL } from "node:url";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import matrix from "../../../plugins/matrix/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { makersProgram } from "../../support/makers-clients.ts";
import { open } from "./room.ts";

interface Crabline {
  startMatrixServer(options: object): Promise<{
    readonly manifest: {
      readonly accessToken: string;
      readonly adminToken: string;
      readonly baseUrl: string;
      readonly endpoints: { readonly adminInboundUrl: string };
    };
    close(): Promise<void>;
  }>;
}

test("a person on a server that others wrote is answered in private, in a thread and in a room", async () => {
  const { startMatrixServer } = (await import(
    pathToFileURL(makersProgram("@openclaw/crabline/dist/src/index.js")).href
  )) as Crabline;
  const sent: { readonly path: string; readonly body?: Readonly<Record<string, unknown>> }[] = [];
  const server = await startMatrixServer({
    botUserId: "@bot:matrix.test",
    recorderPath: `${temporaryDirectory()}/matrix.jsonl`,
    onEvent: (event: (typeof sent)[number]) => void sent.push(event),
  });
  onTestFinished(() => server.close());
  const { accessToken, adminToken, baseUrl, endpoints } = server.manifest;
  const host = await createTestHost({
    plugins: [matrix],
    config: { channels: { matrix: { ...open, homeserver: baseUrl, accessToken } } },
  });
  onTestFinished(() => host.close());
  const state = async () => (await host.accounts()).find(({ channel }) => channel === "matrix")?.state;
  await expect.poll(state).toBe("connected");
  const write = async (body: object) => {
    const response = await fetch(endpoints.adminInboundUrl, {
      method: "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      body: JSON.stringify({ senderId: "@ada:matrix.test", senderName: "Ada", ...body }),
    });
    expect(response.status).toBe(200);
  };
  const answers = () =>
    sent.flatMap(({ path, body = {} }) =>
      path.includes("/send/m.room.message/") ? [[decodeURIComponent(path.split("/")[5] ?? ""), body.body]] : [],
    );
  await write({ roomId: "!direct:matrix.test", direct: true, text: "Hello" });
  await expect.poll(answers).toEqual([["!direct:matrix.test", "heard: Hello"]]);
  await write({ roomId: "!direct:matrix.test", direct: true, text: "inside", threadId: "$root:matrix.test" });
  await expect.poll(answers).toContainEqual(["!direct:matrix.test", "heard: inside"]);
  expect(sent.findLast(({ path }) => path.includes("/send/"))?.body).toMatchObject({
    "m.relates_to": { rel_type: "m.thread", event_id: "$root:matrix.test" },
  });
  await write({ roomId: "!room:matrix.test", roomName: "Bakery", text: "bot: and here?" });
  await expect.poll(answers).toContainEqual(["!room:matrix.test", "heard: and here?"]);
  expect(answers()).toHaveLength(3);
});
