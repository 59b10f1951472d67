/**
 * What becomes of a call is told as it is: it ran and was answered, it ran and its answer cannot be read, it was
 * refused, or nobody knows.
 */
import { describe, expect, test } from "vitest";
import { serveHttp } from "./http-server.ts";
import { type RawServer, rawHttp, rawProgram } from "./raw-servers.ts";
import { failureOf, openRoom, textOf } from "./room.ts";

const kinds: readonly (readonly [string, () => RawServer | Promise<RawServer>])[] = [
  ["a program", rawProgram],
  ["http", () => rawHttp()],
  ["http with events", () => rawHttp({ stream: true })],
];

const result = (text: string) => `{"jsonrpc":"2.0","id":$ID,"result":${text}}`;
const error = (text: string) => `{"jsonrpc":"2.0","id":$ID,"error":${text}}`;
const refusedText = "The call was refused before it ran. Nothing happened.";
const unreadableText =
  "The call ran, but its answer cannot be read. Do not repeat it before you have looked at what it did.";
const unknownText = "It is not known whether the call took effect. Look at what it did before you repeat it.";

describe.each(kinds)("over %s", (_, open) => {
  async function start() {
    const server = await open();
    const room = await openRoom({ raw: { ...server.settings, approve: "never" } });
    async function call(answer: string): Promise<string> {
      server.answer(answer);
      return await room.ask("raw__say");
    }
    return { server, room, call };
  }

  test("null in place of an absent field changes nothing, and the readable rest is read", async () => {
    const { call } = await start();
    const read = async (answer: string) => textOf(await call(result(answer)));
    expect(await read('{"content":[{"type":"text","text":"done"}],"isError":null}')).toBe("done");
    expect(
      await read(
        '{"content":[{"type":"text","text":"done","annotations":null}],"structuredContent":null,"_meta":null}',
      ),
    ).toBe("done");
    expect(await read('{"content":null,"structuredContent":{"degrees":21}}')).toBe('{"degrees":21}');
    expect(await read('{"content":{"type":"text","text":"alone"}}')).toBe("alone");
    expect(await read('{"content":[null,{"type":"text","text":"after nothing"},{"type":"new"}]}')).toBe(
      "after nothing\n[a part of the type new that cannot be shown]",
    );
    expect(await read('{"content":[]}')).toBe("(empty)");
  });

  test("an unreadable response does not count as a refusal, because the tool ran", async () => {
    const { server, call, room } = await start();
    for (const answer of ['{"content":null}', '{"content":{}}', "{}", "null", '"done"', "[1]"])
      expect(failureOf(await call(result(answer))), answer).toMatchObject({
        code: "mcp_unreadable",
        outcome: unreadableText,
      });
    expect(failureOf(await call('{"jsonrpc":"2.0","id":$ID,"result":{"content":['))).toMatchObject({
      code: "mcp_unreadable",
    });
    expect(server.calls()).toHaveLength(7);
    const { eventId } = await room.host.say("raw__say", { from: "owner" });
    expect(await room.host.why(eventId)).toContainEqual(expect.objectContaining({ code: "mcp_unreadable" }));
  });

  test("only protocol errors count as refusals; any other error leaves the outcome unknown", async () => {
    const { call } = await start();
    expect(failureOf(await call(error('{"code":-32602,"message":"x is missing","data":{"at":"x"}}')))).toEqual({
      ok: false,
      code: "mcp_refused",
      outcome: refusedText,
      error: 'The server raw refused the call: x is missing\n{"at":"x"}',
    });
    for (const odd of [
      '{"code":-32603,"message":"Internal error"}',
      '{"code":-32603,"message":null}',
      '{"code":"E1"}',
      "true",
    ])
      expect(failureOf(await call(error(odd))), odd).toMatchObject({
        code: "mcp_outcome_unknown",
        outcome: unknownText,
      });
    expect(failureOf(await call(result('{"content":[{"type":"text","text":"no"}],"isError":true}')))).toEqual({
      ok: false,
      code: "mcp_tool_error",
      error: "no",
    });
  });

  test("structured data that the text does not contain is passed to the model, also with an error", async () => {
    const { call } = await start();
    const read = async (answer: string) => textOf(await call(result(answer)));
    const text = (said: string) => `"content":[{"type":"text","text":${JSON.stringify(said)}}]`;
    expect(await read(`{${text("See structured content.")},"structuredContent":{"top":["a"]}}`)).toBe(
      'See structured content.\n{"top":["a"]}',
    );
    expect(await read(`{${text('{ "b": 1,\n "a": [2] }')},"structuredContent":{"a":[2],"b":1}}`)).toBe(
      '{ "b": 1,\n "a": [2] }',
    );
    expect(await read(`{${text('It is {"a":1}.')},"structuredContent":{"a":1}}`)).toBe('It is {"a":1}.');
    expect(await read(`{${text("Echo: hi")},"structuredContent":{"result":"Echo: hi"}}`)).toBe("Echo: hi");
    expect(await read(`{${text("Took 21 ms.")},"structuredContent":{"degrees":21}}`)).toBe(
      'Took 21 ms.\n{"degrees":21}',
    );
    const failed = await call(
      result(`{${text("NEEDS_HUMAN")},"structuredContent":{"open":"https://a.example/1"},"isError":true}`),
    );
    expect(failureOf(failed)).toMatchObject({
      code: "mcp_tool_error",
      error: 'NEEDS_HUMAN\n{"open":"https://a.example/1"}',
    });
  });

  test("integers in a result keep their digits", async () => {
    const { call } = await start();
    expect(
      textOf(
        await call(result('{"content":[],"structuredContent":{"id":9007199254740993,"list":[-12345678901234567890]}}')),
      ),
    ).toBe('{"id":9007199254740993,"list":[-12345678901234567890]}');
    const both =
      '{"content":[{"type":"text","text":"{\\"id\\":9007199254740993}"}],"structuredContent":{"id":9007199254740993}}';
    expect(textOf(await call(result(both)))).toBe('{"id":9007199254740993}');
  });

  test("null in place of an absent field in a listing loses no tool", async () => {
    const server = await open();
    const schema = { type: "object", properties: { x: { enum: ["a", null], default: null } } };
    server.list([
      { name: "say", title: null, description: null, inputSchema: schema, annotations: null, outputSchema: null },
    ]);
    const room = await openRoom({ raw: { ...server.settings, approve: "never" } });
    expect(await room.ask("names")).toContain("raw__say");
  });
});

test.each([
  [404, ""],
  [404, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32001,"message":"Session not found"}}'],
  [400, "Bad Request: No valid session ID provided"],
  [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}'],
  [400, '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}'],
])(
  "a server that lost the session (%d %s) is initialized again, and the call is repeated once",
  async (status, body) => {
    const server = await serveHttp({ forgotten: { status, body } });
    const room = await openRoom({ web: { url: server.url, approve: "never" } });
    expect(textOf(await room.ask('web__echo {"message":"hi"}'))).toBe("Echo: hi");
    server.forget();
    expect(textOf(await room.ask('web__echo {"message":"again"}'))).toBe("Echo: again");
    expect(server.greetings()).toBe(2);
  },
);

test.each([
  [400, "x is not a number", "mcp_refused"],
  [422, "", "mcp_refused"],
  [500, "broken", "mcp_outcome_unknown"],
  [200, "<html>", "mcp_outcome_unknown"],
])("a server that responds to a call with %d %s is not called again", async (status, body, code) => {
  const server = await serveHttp();
  const room = await openRoom({ web: { url: server.url, approve: "never" } });
  await room.ask("names");
  let calls = 0;
  server.instead = async (request, response) => {
    if (Buffer.concat(await request.toArray()).includes('"tools/call"')) calls += 1;
    response.writeHead(status, { "content-type": "text/html" }).end(body);
  };
  expect(failureOf(await room.ask("web__echo"))).toMatchObject({ ok: false, code });
  expect(calls).toBe(1);
});

test("a server that breaks off its response leaves the outcome unknown", async () => {
  const server = await serveHttp();
  const room = await openRoom({ web: { url: server.url, approve: "never" } });
  await room.ask("names");
  server.instead = (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"jsonrpc":', () => request.socket.destroy());
  };
  expect(failureOf(await room.ask("web__echo"))).toMatchObject({ code: "mcp_outcome_unknown", outcome: unknownText });
});
