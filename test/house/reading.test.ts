/** Responses are read in one place, within limits. */
import { expect, test } from "vitest";
import { linesMatching, read, sources, withoutComments } from "./sources.ts";

/** A call of the platform's own `fetch`, and reading a response without a limit. */
const asks = /(?<![.\w])(?:await|return|=>|=|\(|void|\?|:|\{)\s*(?:globalThis\.)?fetch\(/;
const reads = /\.(?:text|json|arrayBuffer|blob|bytes|formData)\(\)/;
/** Clients whose responses nobody limits. */
const clients = /from "(?:undici|(?:node:)?https?)"|import\("(?:undici|(?:node:)?https?)"\)/;

/** Each with the reason why it may. */
const allowed: Readonly<Record<string, string>> = {
  "core/media/bounded-fetch.ts": "the reader",
  "core/media/body-limit.ts": "collects the pieces of a body",
  "core/media/guarded-fetch.ts": "writes a file of a public address to disk, within limits",
  "core/media/public-agent.ts": "connects to public addresses only",
  "core/media/public-request.ts": "reads no body",
  "core/transforms/requests.ts": "requests of transforms, to public addresses only, with a limit of its own",
  "plugins/botchat/wire/transport.ts": "calls of the bot API, whose bodies are `LimitedBody`",
  "plugins/botchat/wire/download.ts": "writes files to disk, within limits",
  "plugins/playground/platform/webhook.ts": "the emulated platform, whose bodies are `LimitedBody`",
};

/** Server code, which answers requests and sends none. */
const serves =
  /import (?:type )?\{ (?:type )?(?:createServer|IncomingHttpHeaders|IncomingMessage|ServerResponse|Server|METHODS|validateHeader)/;

function found(path: string, text: string): readonly string[] {
  const code = withoutComments(text);
  return [
    ...linesMatching(path, code, asks),
    ...linesMatching(path, code, reads),
    ...linesMatching(path, code, clients).filter((line) => !serves.test(line) && !/import type/.test(line)),
  ];
}

test("the rule detects what it forbids", () => {
  for (const line of [
    "const answer = await fetch(url);",
    "return fetch(url, init);",
    "const ask = (url: string) => fetch(url);",
    "limited(await globalThis.fetch(url))",
    "const body = await response.json();",
    "(await answer.text()).slice(0, 100)",
    "Buffer.from(await answer.arrayBuffer())",
    'import { request } from "node:https";',
    'import { Agent, request } from "undici";',
    'const { request } = await import("node:http");',
  ])
    expect(found("some.ts", line), line).not.toEqual([]);
  for (const line of [
    "await source.fetch(id, depth)",
    "fetch(id: string, depth: Depth): Promise<Mail>;",
    'import type { IncomingMessage } from "node:http";',
    'import { createServer } from "node:http";',
    "await fetchWhole(url, limits)",
  ])
    expect(found("some.ts", line), line).toEqual([]);
});

test("only the bounded readers send requests and read responses", () => {
  // Also what `plugins create` writes: it is the beginning of plugins of others.
  const files = sources(
    "core/**/*.ts",
    "core/cli/plugins/templates/**/*.ts.txt",
    "plugins/**/*.ts",
    "examples/**/*.ts",
  ).filter((path) => !/^core\/(?:testkit|transforms\/guest)\/|\.test\.ts$|\/test\//.test(path));
  const lines = files.flatMap((path) => (allowed[path] === undefined ? found(path, read(path)) : []));
  // A parser of mail, the code of a page that a browser runs, and functions of that name that were handed in, which are
  // guarded.
  const others = [
    /^core\/media\/outbound\.ts:\d+: .*fetch\(media\.url, \{ path, limits/,
    /^core\/transforms\/engine\/call-effects\.ts:\d+: void fetch\(request\)/,
    /^plugins\/mail\/outline\.ts:\d+: .*own\.text\(\)/,
    /^plugins\/device-pair\/page\.ts:/,
  ];
  expect(lines.filter((line) => !others.some((one) => one.test(line)))).toEqual([]);
});
