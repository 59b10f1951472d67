import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BodyKind, checkBodyType, parsePayload } from "../../../core/webhooks/mapping/payload.ts";
import { expectNoPollution, hostileKey, hostileText } from "./hostile.ts";

const form = (text: string) => parsePayload("form", Buffer.from(text));

describe("the declared type of a body", () => {
  test.each<[BodyKind, readonly string[], readonly string[]]>([
    [
      "json",
      ["application/json", "application/problem+json; charset=UTF-8"],
      ["text/plain", "application/x-www-form-urlencoded", ""],
    ],
    [
      "form",
      [
        "application/x-www-form-urlencoded",
        "Application/X-WWW-Form-Urlencoded; charset=utf-8",
        "multipart/form-data; boundary=x",
      ],
      [
        "application/json",
        "multipart/mixed; boundary=x",
        "text/plain",
        "application/x-www-form-urlencoded; charset=iso-8859-1",
        "",
      ],
    ],
    [
      "text",
      [
        "text/plain",
        'TEXT/csv; header=present; charset="utf-8"',
        "application/xml",
        "application/atom+xml",
        "application/x-ndjson",
      ],
      [
        "application/json",
        "application/octet-stream",
        "application/xml; charset=iso-8859-1",
        "text/",
        "text/plain; charset=latin1",
        "",
      ],
    ],
  ])("%s", (kind, taken, refused) => {
    for (const type of taken) expect(checkBodyType(kind, { "content-type": type })).toBeUndefined();
    for (const type of refused) {
      expect(checkBodyType(kind, { "content-type": type })).toMatchObject({
        code: "unsupported_media_type",
        status: 415,
      });
    }
  });

  test("a missing type means the type that the mapping expects", () => {
    for (const kind of ["json", "form", "text"] as const) {
      expect(checkBodyType(kind, {})).toBeUndefined();
    }
  });
});

describe("a form", () => {
  test("each name has its text, and a repeated name has the list of its texts", () => {
    expect(form("From=%2B4912&Body=caf%C3%A9+au+lait&empty=&flag&a=1&a=2&a=&b%5B%5D=x")).toEqual({
      From: "+4912",
      Body: "café au lait",
      empty: "",
      flag: "",
      a: ["1", "2", ""],
      "b[]": "x",
    });
    expect(form("")).toEqual({});
    expect(form("\uFEFF?a=1&&c=3")).toEqual({ "?a": "1", c: "3" });
  });

  test("JSON in a field stays text", () => {
    expect(form(`payload=${encodeURIComponent('{"type":"block_actions"}')}`)).toEqual({
      payload: '{"type":"block_actions"}',
    });
  });

  test("a field named like a prototype key is dropped; other unusual names are ordinary fields", () => {
    const fields = form("__proto__=x&__proto__=y&constructor=c&toString=1&toString=2&a=b") as Record<string, unknown>;
    expect(JSON.stringify(fields)).toBe('{"constructor":"c","toString":["1","2"],"a":"b"}');
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expectNoPollution();
  });

  test("a thousand fields are accepted and one more is rejected, even if they are empty", () => {
    expect(form(`a=1${"&a=1".repeat(999)}`)).toEqual({ a: Array(1_000).fill("1") });
    for (const field of ["&a=1", "&"]) {
      expect(() => form(`a=1${field.repeat(1_000)}`)).toThrow(
        expect.objectContaining({ code: "payload_too_large", status: 413 }),
      );
    }
  });

  test("written fields are read back unchanged", () => {
    const name = fc.oneof(hostileKey, fc.string()).filter((key) => key !== "__proto__");
    const pair = fc
      .tuple(name, fc.oneof(hostileText, fc.string()))
      .map((texts) => texts.map((text) => text.toWellFormed()) as [string, string]);
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
        const read = form(new URLSearchParams(pairs).toString()) as Record<string, string | string[]>;
        const names = [...new Set(pairs.map(([key]) => key))];
        expect(Object.keys(read).toSorted()).toEqual(names.toSorted());
        for (const key of names)
          expect([read[key]].flat()).toEqual(pairs.filter(([other]) => other === key).map(([, text]) => text));
        expectNoPollution();
      }),
      { numRuns: 500 },
    );
  });
});

describe("text and JSON bodies", () => {
  test("a text is used unchanged, without its byte order mark", () => {
    expect(parsePayload("text", Buffer.from("\uFEFFdisk full\n"))).toBe("disk full\n");
    expect(parsePayload("text", Buffer.from(""))).toBe("");
    expect(parsePayload("text", Buffer.from('{"a":1}'))).toBe('{"a":1}');
  });

  test("JSON follows the same rules as at the other endpoints", () => {
    expect(parsePayload("json", Buffer.from(""))).toEqual({});
    expect(parsePayload("json", Buffer.from('[1,{"__proto__":{"polluted":1}}]'))).toEqual([1, {}]);
    expect(() => parsePayload("json", Buffer.from(`${"[".repeat(65)}${"]".repeat(65)}`))).toThrow(
      expect.objectContaining({ code: "invalid_json" }),
    );
  });

  test("invalid UTF-8 is rejected in bodies of every type", () => {
    for (const kind of ["json", "form", "text"] as const) {
      expect(() => parsePayload(kind, Buffer.from([0x61, 0xff]))).toThrow(expect.objectContaining({ status: 400 }));
    }
  });

  test("any bytes give either a payload or an HTTP problem", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<BodyKind>("json", "form", "text"),
        fc.uint8Array({ maxLength: 200 }),
        (kind, bytes) => {
          try {
            expect(parsePayload(kind, Buffer.from(bytes))).toBeDefined();
          } catch (error) {
            expect(error).toMatchObject({ name: "HttpProblem", status: 400 });
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
