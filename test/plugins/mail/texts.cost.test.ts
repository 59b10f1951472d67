/** Headers and bodies made to cost more to read than their length. */
import { describe, test } from "vitest";
import { judgeSender } from "../../../plugins/mail/sender.ts";
import { manyLines, oneLine } from "../../../plugins/mail/text.ts";
import { expectLinear } from "../../support/linear.ts";

const from = { name: "from", value: "Grace <grace@example.org>" };
const results = (value: string) => ({ name: "authentication-results", value: `mx.example.net; dmarc=pass ${value}` });

function read(text: string): unknown {
  const sender = [{ address: "grace@example.org" }];
  return [
    judgeSender({ headers: [from, results(text)], from: sender }, ["mx.example.net"]),
    judgeSender({ headers: [{ name: "from", value: text }, results("")], from: sender }, ["mx.example.net"]),
    manyLines(text),
    oneLine(text),
  ];
}

describe("the cost of reading a mail grows linearly with its length", () => {
  test.each([
    ["spaces", " "],
    ["equals signs between spaces", " = "],
    ["brackets that open", "("],
    ["quotes", '"'],
    ["semicolons", "a=b;"],
    ["tabs and letters", "\t\t\t\t\t\t\t\tx"],
    ["empty lines", "\n"],
  ])("%s", async (_name, piece) => {
    await expectLinear(read, (length) => `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}x`, {
      size: 125_000,
      times: 30,
    });
  });

  test("for a From field of maximum length with unclosed nested quotes", async () => {
    const judge = (value: string) =>
      judgeSender({ headers: [{ name: "from", value }], from: [{ address: "grace@example.org" }] }, []);
    await expectLinear(judge, (length) => `"${'\\"'.repeat(length / 2)}`, { size: 8_000, times: 30 });
  });
});
