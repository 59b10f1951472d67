import Type from "typebox";
import { describe, expect, test } from "vitest";
import { validateSection } from "../../../core/config/checking/validate.ts";

const options = Type.Object({
  server: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65_535, default: 6_667 }),
  mode: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
  nested: Type.Object({ ratio: Type.Number({ exclusiveMinimum: 0, default: 0.5 }) }, { default: {} }),
  tags: Type.Optional(Type.Array(Type.String(), { uniqueItems: true, maxItems: 2 })),
  retry: Type.Optional(Type.Object({ attempts: Type.Integer({ default: 3 }) })),
});

const problemsOf = (value: unknown) =>
  validateSection(options, value, "channels.irc").problems.map(
    ({ severity, path, message }) => `${severity} ${path} ${message}`,
  );

describe("options of plugins", () => {
  test("defaults apply at every depth; a missing value without a default stays missing", () => {
    expect(validateSection(options, { server: "x", retry: {} }, "p")).toEqual({
      value: { server: "x", port: 6_667, nested: { ratio: 0.5 }, retry: { attempts: 3 } },
      problems: [],
    });
  });

  test("a default that its own schema rejects is a problem of the section", () => {
    const wrong = Type.Object({ size: Type.Integer({ minimum: 0, default: -1 }) });
    const { problems } = validateSection(wrong, {}, "p");
    expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toContain("error p.size");
  });

  test.each([
    [{}, ["error channels.irc.server is missing; it must be a text"]],
    [{ server: 5 }, ["error channels.irc.server is 5, but must be a text"]],
    [{ server: "x", port: 0 }, ["error channels.irc.port is 0, but must be a whole number from 1 to 65535"]],
    [{ server: "x", port: 1.5 }, ["error channels.irc.port is 1.5, but must be a whole number from 1 to 65535"]],
    [{ server: "x", mode: "c" }, ['error channels.irc.mode is "c", but must be "a" or "b"']],
    [
      { server: "x", nested: { ratio: 0 } },
      ["error channels.irc.nested.ratio is 0, but must be a number of more than 0"],
    ],
    [{ server: "x", nested: [] }, ["error channels.irc.nested is an empty list, but must be an object { ratio }"]],
    [{ server: "x", tags: ["a", "a"] }, ["error channels.irc.tags contains the same element twice"]],
    [{ server: "x", tags: ["a", 5] }, ["error channels.irc.tags[1] is 5, but must be a text"]],
    [{ server: "x", sever: 1 }, ["warning channels.irc.sever this key is not known"]],
    ["x", ['error channels.irc is "x", but must be an object']],
  ])("%j", (value, expected) => {
    expect(problemsOf(value)).toEqual(expected);
  });

  test("a text that does not match its pattern is reported with what is allowed, or the description", () => {
    const schema = Type.Object({
      room: Type.String({
        pattern: "^#[\\w-]+$",
        expects: "a room such as #general",
        description: "Room that the bot joins.",
      }),
      nick: Type.String({ pattern: "^[a-z]+$", description: "Name of the bot, in small letters." }),
    });
    const said = (value: unknown) =>
      validateSection(schema, value, "p").problems.map(({ message, hint }) => [message, hint]);
    expect(said({ room: "general", nick: "Ada" })).toEqual([
      ['is "general", but must be a room such as #general', undefined],
      ['is "Ada", but must be a text that matches ^[a-z]+$', "The option is: Name of the bot, in small letters."],
    ]);
    expect(said({ room: "#general" })).toEqual([
      ["is missing; it must be a text that matches ^[a-z]+$", "The option is: Name of the bot, in small letters."],
    ]);
  });

  test("named secrets are never quoted, regardless of the problem", () => {
    const schema = Type.Object({
      botToken: Type.String({ minLength: 100 }),
      proxy: Type.Object({ key: Type.String() }),
    });
    const { problems } = validateSection(schema, { botToken: "hunter22", proxy: { key: 22_333 } }, "p", {
      secrets: ["botToken", "proxy"],
    });
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems)).not.toMatch(/hunter|22333/);
  });

  test("unknown keys at the top level can be kept for another reader", () => {
    const { value, problems } = validateSection(options, { server: "x", other: { a: 1 }, retry: { b: 1 } }, "p", {
      unknownKeys: "keep",
    });
    expect(value).toMatchObject({ other: { a: 1 }, retry: { attempts: 3 } });
    expect(problems.map((problem) => problem.path)).toEqual(["p.retry.b"]);
  });

  test("the result shares no objects with the input", () => {
    const given = Object.freeze({ server: "x", free: Object.freeze({ list: Object.freeze([1]) }) });
    const { value } = validateSection(
      Type.Object({ free: Type.Unknown() }, { additionalProperties: true }),
      given,
      "p",
    );
    (value.free as { list: number[] }).list.push(2);
    expect(given.free.list).toEqual([1]);
  });

  test("TypeBox checks keywords that the walk does not: formats, intersections, references, refinements", () => {
    const Node = Type.Cyclic(
      { Node: Type.Object({ id: Type.Integer(), next: Type.Optional(Type.Ref("Node")) }) },
      "Node",
    );
    const schema = Type.Object({
      mail: Type.String({ format: "email" }),
      both: Type.Intersect([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Integer() })]),
      even: Type.Refine(
        Type.Integer(),
        (value) => value % 2 === 0,
        () => "must be even",
      ),
      node: Node,
    });
    const good = { mail: "a@b.cd", both: { a: 1, b: 2 }, even: 2, node: { id: 1, next: { id: 2 } } };
    expect(validateSection(schema, good, "p")).toEqual({ value: good, problems: [] });
    const bad = { mail: "ab", both: { a: 1 }, even: 3, node: { id: 1, next: { id: "x" } } };
    const paths = validateSection(schema, bad, "p").problems.map((problem) => problem.path);
    expect([...new Set(paths)].sort()).toEqual(["p.both", "p.even", "p.mail", "p.node.next.id"]);
  });
});
