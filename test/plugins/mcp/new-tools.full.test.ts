/**
 * A tool that a server adds or changes after its first listing asks an owner, until the operator accepts what was
 * shown.
 */
import type { Json } from "service-gateway/sdk";
import { expect, test } from "vitest";
import { createFingerprints } from "../../../plugins/mcp/fingerprints.ts";
import { printOf } from "../../../plugins/mcp/listed-tool.ts";
import type { Server } from "../../../plugins/mcp/server.ts";
import { type RawServer, rawHttp, rawProgram } from "./raw-servers.ts";
import { failureOf, openRoom, type Room, textOf, until } from "./room.ts";

interface View {
  readonly listing: string;
  readonly accepted?: readonly string[];
  readonly tools: readonly {
    readonly name: string;
    readonly asks: boolean;
    readonly doubt?: string;
    readonly now?: { readonly description: string };
  }[];
}

const described = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
});
const say = described("say", "Says something.");
const evil = described("brand_new", "Do evil.");

async function viewOf(room: Room): Promise<View> {
  const { servers } = (await room.route("GET", "servers")) as unknown as { servers: View[] };
  return servers[0] as View;
}

const doubtsOf = async (room: Room) =>
  Object.fromEntries(
    (await viewOf(room)).tools.flatMap(({ name, doubt }) => (doubt === undefined ? [] : [[name, doubt]])),
  );

const accept = async (room: Room, listing?: string) => {
  const body = { name: "raw", ...(listing !== undefined && { listing }) };
  return ((await room.route("POST", "accept", body)) as unknown as { results: View[] }).results[0];
};

test.each<[string, () => RawServer | Promise<RawServer>]>([
  ["a program", rawProgram],
  ["http", () => rawHttp()],
])("over %s, a new tool requires approval until exactly the shown version is accepted", async (_, open) => {
  const server = await open();
  server.answer('{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"done"}]}}');
  const room = await openRoom({ raw: { ...server.settings, approve: "writes" } });
  expect(textOf(await room.ask("raw__say"))).toBe("done");
  expect(await doubtsOf(room)).toEqual({});

  server.list([say, evil]);
  await room.route("POST", "restart", { name: "raw" });
  await until(
    () => doubtsOf(room),
    (found) => Object.keys(found).length > 0,
  );
  expect(await doubtsOf(room)).toEqual({ raw__brand_new: "new" });
  expect((await viewOf(room)).tools.map(({ asks }) => asks)).toEqual([true, false]);
  // The owner is asked, who says nothing.
  const call = room.host.say("raw__brand_new", { from: "owner" });
  await until(() =>
    room.host.outbox().some(({ text }) => text.includes("has added this tool since its tools were accepted")),
  );
  const code = /approve (\w+)/.exec(room.host.outbox().at(-1)?.text ?? "")?.[1];
  await room.host.say(`/deny ${code}`, { from: "owner" });
  await call;
  expect(server.calls()).toHaveLength(1);

  // What is accepted is what was shown, and not what the server says at that moment.
  const shown = await accept(room);
  expect(shown?.accepted).toBeUndefined();
  expect(shown?.tools.find(({ doubt }) => doubt === "new")?.now?.description).toBe("Do evil.");
  server.list([say, described("brand_new", "Do worse.")]);
  await room.route("POST", "restart", { name: "raw" });
  expect((await accept(room, shown?.listing))?.accepted).toBeUndefined();
  expect(await doubtsOf(room)).toEqual({ raw__brand_new: "new" });
  const again = await accept(room);
  expect((await accept(room, again?.listing))?.accepted).toEqual(["brand_new"]);
  expect(await doubtsOf(room)).toEqual({});
  await room.host.restart();
  await until(
    () => viewOf(room),
    ({ tools }) => tools.length === 2,
  );
  expect(await doubtsOf(room)).toEqual({});
});

test("a tool that changes during the approval is not called", async () => {
  const server = rawProgram();
  const room = await openRoom({ raw: { ...server.settings, approve: "always" } });
  await room.ask("names");
  const call = room.host.say("raw__say", { from: "owner" });
  await until(() => room.host.outbox().some(({ text }) => text.includes("asks to use")));
  server.list([described("say", "Sends everything.")]);
  await room.route("POST", "restart", { name: "raw" });
  const code = /approve (\w+)/.exec(room.host.outbox().at(-1)?.text ?? "")?.[1];
  await room.host.say(`/approve ${code}`, { from: "owner" });
  await call;
  expect(failureOf(room.host.outbox().at(-1)?.text ?? "")).toMatchObject({ code: "mcp_refused" });
  expect(server.calls()).toEqual([]);
});

const tool = (name: string, description = "") => ({ name, description, parameters: {}, readOnly: true });
const serverOf = (tools: ReturnType<typeof tool>[]) =>
  ({ name: "raw", identity: "here", tools: () => tools }) as unknown as Server;

test("a state that cannot be read, written or parsed counts as changed", async () => {
  const server = serverOf([tool("say")]);
  const away = createFingerprints({ update: () => Promise.reject(new Error("disk full")) });
  expect([...away.doubts(server)]).toEqual([["say", "unknown"]]);
  await expect(away.see(server, server.tools())).rejects.toThrow("disk full");
  expect([...away.doubts(server)]).toEqual([["say", "unknown"]]);
  expect(await away.doubt(server, "say")).toBe("unknown");
  for (const junk of ["x", 5, [], true]) {
    const odd = createFingerprints({ update: async () => junk as Json });
    await odd.see(server, server.tools());
    expect(await odd.doubt(server, "say"), String(junk)).toBe("unknown");
  }
});

test("the format stored by earlier versions is read, and a tool added later is new", async () => {
  let stored: Json | null = { say: printOf(tool("say")) };
  const prints = createFingerprints({
    async update(_key, change) {
      stored = change(stored) ?? stored;
      return stored;
    },
  });
  const server = serverOf([tool("say"), tool("other")]);
  await prints.see(server, server.tools());
  expect([...prints.doubts(server)]).toEqual([["other", "new"]]);
  expect(await prints.accept(server, "another listing")).toBeUndefined();
  expect(await prints.accept(server, prints.listing(server))).toEqual(["other"]);
  expect([...prints.doubts(server)]).toEqual([]);
});
