import { expect, test } from "vitest";
import { linesMatching, read, sources, withoutComments } from "./sources.ts";

/** Code for the engine of transforms, which compares what is there. */
const engine = /^core\/transforms\/guest\//;

test("the host compares secrets in one place, in constant time", () => {
  const users = sources("core/**/*.ts").filter(
    (path) => !engine.test(path) && /\btimingSafeEqual\(/.test(withoutComments(read(path))),
  );
  expect(users).toEqual(["core/http/credentials.ts"]);
});

test("no other place compares a secret with received input", () => {
  const name = String.raw`[\w.]*(?:token|secret|signature|password|digest|hmac)s?(?:\(\))?`;
  const equals = "(?:===|!==)";
  const harmless = String.raw`(?!\s*(?:undefined\b|null\b|true\b|false\b|""|"[a-z_]+"|\d))`;
  const compared = new RegExp(String.raw`\b${name}\s*${equals}${harmless}|${equals}\s*${name}(?![\w.(])`, "i");
  for (const line of ["if (given === secret) return", "return presented !== hookToken;", "config.token() === given"])
    expect(line).toMatch(compared);
  /** Each with the reason why it is no comparison with what a client sent. */
  const allowed: Readonly<Record<string, string>> = {
    "core/http/credentials.ts: if (secret !== current) adopt(secret);": "notices that the configuration changed",
    "core/config/checking/rules.ts: if (gatewayToken !== hookToken) return weak;": "both stand in the configuration",
    "core/http/browsers/sessions.ts: const isOfToken = ({ token }: Stored) => token === tokenDigest();":
      "both are of the gateway's own token",
    "core/http/attempts.ts: if (secret === known) return name;": "notices that the configuration changed",
    "core/config/reading/watch.ts: if (signal.aborted || next === digest) return;": "of a file's text",
  };
  const found = sources("{core,plugins/botchat}/**/*.ts").flatMap((path) =>
    linesMatching(path, withoutComments(read(path)), compared).map((line) => line.replace(/:\d+: /, ": ")),
  );
  expect(found.filter((line) => allowed[line] === undefined)).toEqual([]);
  expect(Object.keys(allowed).filter((line) => !found.includes(line))).toEqual([]);
});
