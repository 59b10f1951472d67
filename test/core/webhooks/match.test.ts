import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../core/contract/types.ts";
import { compileMatch, MatchError, type MatchSettings } from "../../../core/webhooks/mapping/match.ts";
import { leastCostOf } from "../../support/cost.ts";
import { deliveryOf, expectNoPollution, hostileJson, hostileKey, hostileText } from "./hostile.ts";

const push = deliveryOf({
  path: "ci/build",
  headers: { "x-github-event": "push", "x-two": "a, b", "x-blank": "" },
  payload: {
    source: "ci",
    action: "opened",
    code: 503,
    draft: false,
    gone: null,
    labels: ["bug", "ui"],
    repo: { name: "acme/gateway", "a.b": 1 },
    token: "s3cret",
  },
});

const test1 = (settings: MatchSettings, delivery = push) => compileMatch(settings).test(delivery);

function problemsOf(settings: MatchSettings): readonly string[] {
  try {
    compileMatch(settings);
  } catch (error) {
    if (error instanceof MatchError)
      return error.problems.map(
        ({ at, message, hint }) => `${at.join("/")}: ${message}${hint === undefined ? "" : `. ${hint}`}`,
      );
    throw error;
  }
  return [];
}

describe("what a match accepts", () => {
  test("no match and an empty match accept every name", () => {
    expect(compileMatch().test(push)).toBe(true);
    expect(test1({})).toBe(true);
    expect(compileMatch({}).path).toBeUndefined();
  });

  test("the path is exact and case-sensitive; leading and trailing slashes are ignored", () => {
    for (const path of ["ci/build", "/ci/build", "/ci/build//", " ci/build "]) {
      expect(test1({ path })).toBe(true);
      expect(compileMatch({ path }).path).toBe("ci/build");
    }
    for (const path of ["ci", "CI/build", "ci/build/x", "ci//build", "ci/*"]) expect(test1({ path })).not.toBe(true);
  });

  test("a path of a hundred thousand slashes is handled quickly", () => {
    expect(compileMatch({ path: `${"/".repeat(100_000)}x${"/".repeat(100_000)}` }).path).toBe("x");
  });

  test("the source is compared with the payload's own field, which must be a text", () => {
    expect(test1({ source: "ci" })).toBe(true);
    expect(test1({ source: "CI" })).not.toBe(true);
    expect(test1({ source: "1" }, deliveryOf({ payload: { source: 1 } }))).not.toBe(true);
    expect(test1({ source: "x" }, deliveryOf({ payload: "x" }))).not.toBe(true);
  });

  test("header names match in any case; values match exactly, one or any of a list", () => {
    expect(test1({ headers: { "X-GitHub-Event": "push" } })).toBe(true);
    expect(test1({ headers: { "x-github-event": ["pull_request", "push"], "X-Two": "a, b", "x-blank": "" } })).toBe(
      true,
    );
    expect(test1({ headers: { "x-github-event": "Push" } })).not.toBe(true);
    expect(test1({ headers: { "x-github-event": ["push"], "x-absent": "" } })).not.toBe(true);
    expect(test1({ headers: { constructor: "x", ["__proto__" as string]: "x" } })).not.toBe(true);
  });

  test.each<[string, NonNullable<MatchSettings["where"]>[string], boolean]>([
    ["action", "opened", true],
    ["action", "Opened", false],
    ["action", ["closed", "opened"], true],
    ["action", ["closed"], false],
    ["code", 503, true],
    ["code", "503", false],
    ["draft", false, true],
    ["draft", [null, 0, "false"], false],
    ["gone", null, true],
    ["absent", null, false],
    ["labels[0]", "bug", true],
    ["labels.length", 2, true],
    ["labels", "bug", false],
    ['repo["a.b"]', 1, true],
    ["repo.name", { matches: "^acme/" }, true],
    ["repo.name", { matches: "ACME" }, false],
    ["repo.name", { matches: "(?i)ACME" }, true],
    ["code", { matches: "^5[0-9]{2}$" }, true],
    ["draft", { matches: "false" }, true],
    ["gone", { matches: ".*" }, false],
    ["labels", { matches: "bug" }, false],
    ["absent", { matches: "" }, false],
    ["gone", { exists: true }, true],
    ["absent", { exists: true }, false],
    ["absent", { exists: false }, true],
    ["gone", { exists: false }, false],
    ["toString", { exists: true }, false],
    ["__proto__", { exists: false }, true],
    ["labels.constructor", { exists: true }, false],
  ])("where %s is %j matches: %s", (path, where, expected) => {
    expect(test1({ where: { [path]: where } }) === true).toBe(expected);
  });

  test("all conditions must be met", () => {
    const all: MatchSettings = {
      path: "ci/build",
      source: "ci",
      headers: { "x-github-event": "push" },
      where: { code: 503, draft: false },
    };
    expect(test1(all)).toBe(true);
    for (const wrong of [
      { path: "x" },
      { source: "x" },
      { headers: { "x-github-event": "x" } },
      { where: { code: 503, draft: true } },
    ]) {
      expect(test1({ ...all, ...wrong })).not.toBe(true);
    }
  });

  test("a pattern that stalls other engines runs quickly, and a text that is too long does not match", async () => {
    const nasty = compileMatch({ where: { text: { matches: "^(a+)+$" } } });
    const hostile = () =>
      expect(nasty.test(deliveryOf({ payload: { text: `${"a".repeat(16_383)}!` } }))).not.toBe(true);
    expect(await leastCostOf(hostile, { below: 1_000 })).toBeLessThan(1_000);
    expect(nasty.test(deliveryOf({ payload: { text: "a".repeat(16_384) } }))).toBe(true);
    expect(nasty.test(deliveryOf({ payload: { text: "a".repeat(16_385) } }))).toBe(
      "payload.text is longer than 16384 characters, too long to match",
    );
  });
});

describe("why a match rejects a delivery", () => {
  test.each<[MatchSettings, string]>([
    [{ path: "x" }, 'path is "ci/build", not "x"'],
    [{ source: "cd" }, 'source is "ci", not "cd"'],
    [
      { headers: { "X-GitHub-Event": ["ping", "star"] } },
      'headers.x-github-event is "push", not one of "ping", "star"',
    ],
    [{ headers: { "x-none": "a" } }, "headers.x-none is missing"],
    [{ where: { "repo.name": "x" } }, 'payload.repo.name is "acme/gateway", not "x"'],
    [{ where: { code: "503" } }, 'payload.code is 503, not "503"'],
    [{ where: { labels: "x" } }, 'payload.labels is a list, not "x"'],
    [{ where: { repo: null } }, "payload.repo is an object, not null"],
    [{ where: { "labels.0": { exists: false } } }, "payload.labels[0] is present, but must not be"],
    [{ where: { "a.b": { exists: true } } }, "payload.a.b is missing"],
    [{ where: { action: { matches: "^c" } } }, 'payload.action is "opened", which does not match ^c'],
    [{ where: { gone: { matches: "x" } } }, "payload.gone is null, which is not a text"],
  ])("%j", (settings, expected) => {
    expect(test1(settings)).toBe(expected);
  });

  test("at most 120 characters of a value are quoted, on one line", () => {
    const long = deliveryOf({ payload: { a: `one\ntwo ${"x".repeat(5_000)}` } });
    const reason = test1({ where: { a: ["y".repeat(500), "z"] } }, long);
    expect(reason).toMatch(/^payload\.a is "one\\ntwo x{111}…", not one of "y{118}…$/);
  });

  test("possible secrets are not quoted, neither the received nor the expected value", () => {
    const headers = { "x-plant-token": "f0und", "x-plant-signature": "f0und", "x-api-key": "f0und" };
    const delivery = deliveryOf({ headers, payload: { token: "f0und", auth: { password: { value: "f0und" } } } });
    for (const name of Object.keys(headers)) {
      expect(test1({ headers: { [name]: "exp3cted" } }, delivery)).toBe(
        `headers.${name} has a value that is not the expected one`,
      );
    }
    for (const where of [
      { token: "exp3cted" },
      { token: { matches: "^x" } },
      { "auth.password.value": ["exp3cted"] },
      { "auth.password": "exp3cted" },
    ]) {
      expect(test1({ where } as never, delivery)).toMatch(/^payload\.\S+ (?!.*(f0und|exp3cted)).+$/);
    }
  });

  test("any comparison gives one line of limited length and touches no prototype", () => {
    const scalar = fc.oneof(hostileText, fc.integer(), fc.boolean(), fc.constant(null));
    const where = fc.oneof(
      scalar,
      fc.array(scalar, { minLength: 1, maxLength: 3 }),
      fc.record({ exists: fc.boolean() }),
    );
    const bare = hostileKey.filter((key) => /^[\w-]+$/.test(key));
    const paths = fc.array(bare, { minLength: 1, maxLength: 3 }).map((keys) => keys.join("."));
    fc.assert(
      fc.property(fc.array(fc.tuple(paths, where), { maxLength: 3 }), hostileJson, (fields, payload) => {
        const said = test1({ where: Object.fromEntries(fields) }, deliveryOf({ payload }));
        if (said !== true) expect(said).toMatch(/^payload[^\n]{1,600}$/);
        expectNoPollution();
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("an invalid match", () => {
  test("reports every error with its place", () => {
    expect(
      problemsOf({
        path: "/",
        source: " ",
        headers: { "a b": "x", Authorization: "Bearer x", "x-a": [] },
        where: { "a..b": 1, "": 1, a: [], b: { matches: "(" }, c: { matches: "(?=x)" } },
      }),
    ).toEqual([
      'path: is "/", which contains no name. Leave match.path out to take every name.',
      "source: is blank. Leave match.source out to take every source.",
      "headers/a b: is not a header name",
      "headers/Authorization: is a header that mappings never see. Credentials are checked before the " +
        "mappings are tried.",
      "headers/x-a: is an empty list, which nothing matches",
      expect.stringMatching(/^where\/a\.\.b: is not a payload path: a name is missing before "\."; .*, at column 3$/),
      expect.stringMatching(/^where\/: is not a payload path: a name is missing; .*, at column 1$/),
      "where/a: is an empty list, which nothing matches",
      "where/b/matches: is not a pattern: missing closing ): `(`. Patterns are run in linear time: no " +
        "look-around and no back-references.",
      expect.stringContaining("where/c/matches: is not a pattern: invalid or unsupported Perl syntax"),
    ]);
  });

  test("must have a path as it is written in an address", () => {
    expect(problemsOf({ path: "größe/a b" })).toEqual([
      'path: is "größe/a b", but is compared with the address literally. Write it as gr%C3%B6%C3%9Fe/a%20b.',
    ]);
    expect(problemsOf({ path: "a?b" })).toEqual(['path: is "a?b", but must be a path without query']);
    expect(problemsOf({ path: "gr%C3%B6" })).toEqual([]);
  });
});

describe("whether a match covers another", () => {
  test.each<[MatchSettings, MatchSettings, boolean]>([
    [{}, { path: "a" }, true],
    [{ path: "a" }, {}, false],
    [{ path: "/a/" }, { path: "a", source: "s" }, true],
    [{ path: "a" }, { path: "b" }, false],
    [{ headers: { "X-A": ["1", "2"] } }, { headers: { "x-a": "1" } }, true],
    [{ headers: { "x-a": "1" } }, { headers: { "x-a": ["1", "2"] } }, false],
    [{ source: "s" }, { where: { source: "s" } }, true],
    [{ where: { source: ["s", "t"] } }, { source: "s" }, true],
    [{ where: { "a.b": { exists: true } } }, { where: { 'a["b"]': 1 } }, true],
    [{ where: { a: { exists: true } } }, { where: { "a.b.c": { matches: "x" } } }, true],
    [{ where: { a: { exists: true } } }, { where: { "a.b": { exists: false } } }, false],
    [{ where: { "a.b": { exists: false } } }, { where: { a: { exists: false } } }, true],
    [{ where: { "a.b": { exists: false } } }, { where: { a: "text" } }, true],
    [{ where: { a: { matches: "^x" } } }, { where: { a: ["x1", "x2"] } }, true],
    [{ where: { a: { matches: "^x" } } }, { where: { a: ["x1", "y"] } }, false],
    [{ where: { a: { matches: "^x" } } }, { where: { a: { matches: "^x" }, b: 1 } }, true],
    [{ where: { a: { matches: "^x" } } }, { where: { a: { matches: "^xy" } } }, false],
    [{ where: { a: 1 } }, { where: { a: "1" } }, false],
    [{ where: { "labels[0]": 1 } }, { where: { "labels.0": 1 } }, true],
    // What takes nothing is covered by everything.
    [{ path: "a" }, { source: "s", where: { source: "t" } }, true],
    [{ path: "a" }, { source: "s", where: { source: { exists: false } } }, true],
    [{ path: "a" }, { where: { a: 1, "a.b": 1 } }, true],
    [{ path: "a" }, { where: { a: { exists: false }, "a.b": { exists: true } } }, true],
  ])("%j covers %j: %s", (one, other, expected) => {
    expect(compileMatch(one).covers(compileMatch(other))).toBe(expected);
  });

  const name = fc.constantFrom("a", "a.b", "a.b.c", "source", "a.length");
  const value = fc.constantFrom<(string | number | null)[]>("x", "xy", 1, null);
  const where = fc.oneof(
    value,
    fc.array(value, { minLength: 1, maxLength: 3 }),
    fc.record({ exists: fc.boolean() }),
    fc.record({ matches: fc.constantFrom("^x", "y$", "1") }),
  );
  const settings: fc.Arbitrary<MatchSettings> = fc.record(
    {
      path: fc.constantFrom("p", "q"),
      source: fc.constantFrom("x", "xy"),
      headers: fc.dictionary(
        fc.constantFrom("x-a", "X-A", "x-b"),
        fc.constantFrom<string | string[]>("1", "2", ["1", "2"]),
        {
          maxKeys: 2,
        },
      ),
      where: fc.dictionary(name, where, { maxKeys: 3 }),
    },
    { requiredKeys: [] },
  );
  const leaf = fc.constantFrom<Json>("x", "xy", 1, null, [], ["x"], { c: "x" }, { c: 1 }, {});
  const payloads = fc.oneof(
    fc.record({ a: fc.oneof(leaf, fc.record({ b: leaf })), source: leaf }, { requiredKeys: [] }),
    fc.constant<Json>("x"),
  ) as fc.Arbitrary<Json>;
  const deliveries = fc
    .record({
      path: fc.constantFrom("p", "q"),
      headers: fc.dictionary(fc.constantFrom("x-a", "x-b"), fc.constantFrom("1", "2")),
      payload: payloads,
    })
    .map(deliveryOf);

  test("a covering match accepts every delivery that the covered one accepts", () => {
    fc.assert(
      fc.property(settings, settings, fc.array(deliveries, { minLength: 5, maxLength: 30 }), (one, other, all) => {
        const [first, second] = [compileMatch(one), compileMatch(other)];
        if (!first.covers(second)) return;
        for (const delivery of all) if (second.test(delivery) === true) expect(first.test(delivery)).toBe(true);
      }),
      { numRuns: 4_000 },
    );
  });

  test("a match covers itself and any match with more conditions", () => {
    fc.assert(
      fc.property(settings, fc.constantFrom("z", "z.y"), where, (one, path, condition) => {
        const match = compileMatch(one);
        expect(match.covers(match)).toBe(true);
        expect(match.covers(compileMatch({ ...one, where: { ...one.where, [path]: condition } }))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
