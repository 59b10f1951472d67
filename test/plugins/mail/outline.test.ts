/** Which part of a mail is its text, with the parts as IMAP and as the Gmail API describe them. */
import type { MessageStructureObject } from "imapflow";
import { describe, expect, test } from "vitest";
import { readMessage } from "../../../plugins/mail/gmail/message.ts";
import { structureOf } from "../../../plugins/mail/imap/structure.ts";

interface Tree {
  readonly type: string;
  readonly file?: string;
  readonly parts?: readonly Tree[];
}

const leaf = (type: string, file?: string): Tree => ({ type, ...(file === undefined ? {} : { file }) });
const multi = (kind: string, ...parts: readonly Tree[]): Tree => ({ type: `multipart/${kind}`, parts });
const enclosed = (tree: Tree, file?: string): Tree => ({ ...leaf("message/rfc822", file), parts: [tree] });
const plain = leaf("text/plain");
const html = leaf("text/html");
const image = leaf("image/png", "logo.png");

/**
 * The number of a part is the way to it, as in IMAP, except that a message counts as one more part around its content.
 */
const asStructure = ({ type, file, parts }: Tree, part = ""): MessageStructureObject =>
  ({
    ...{
      type,
      part,
      ...(file === undefined ? {} : { disposition: "attachment", dispositionParameters: { filename: file } }),
    },
    ...(parts === undefined ? {} : { childNodes: parts.map((one, at) => asStructure(one, `${part}${at + 1}`)) }),
  }) as MessageStructureObject;

const asPayload = ({ type, file = "", parts }: Tree, part = ""): object => ({
  ...{ mimeType: type, filename: file, body: { data: Buffer.from(part).toString("base64url") } },
  ...(parts === undefined ? {} : { parts: parts.map((one, at) => asPayload(one, `${part}${at + 1}`)) }),
});

interface Protocol {
  readonly name: string;
  readonly read: (tree: Tree) => Promise<{ readonly text?: string; readonly names: readonly string[] }>;
}

const protocols: readonly Protocol[] = [
  {
    name: "IMAP",
    async read(tree) {
      const { texts, enclosed, attachments } = structureOf(asStructure(tree));
      const all = texts.length > 0 ? texts : (enclosed[0]?.texts ?? []);
      const text = all.map(([best]) => best?.part.part).join("\n\n");
      return {
        ...(text === "" ? {} : { text }),
        names: attachments.map(({ name }) => name),
      };
    },
  },
  {
    name: "the Gmail API",
    async read(tree) {
      const asked = { maxBytes: 1_000, fetchPart: async () => "" };
      const { text, attachments } = await readMessage({ id: "1", payload: asPayload(tree) }, asked);
      return { ...(text === undefined ? {} : { text: text.value }), names: attachments.map(({ name }) => name) };
    },
  },
];

describe.each(protocols)("the text of a mail by $name", ({ read }) => {
  test.each<[what: string, tree: Tree, part: string | undefined, names: readonly string[]]>([
    ["is the HTML, then the footer that a mailing list adds", multi("mixed", html, plain), "1\n\n2", []],
    [
      "is the plain one of two alternatives, whatever their order, then what follows",
      multi("mixed", multi("alternative", html, plain), plain),
      "12\n\n2",
      [],
    ],
    [
      "is the plain alternative to HTML with pictures",
      multi("alternative", multi("related", html, image), plain),
      "2",
      ["logo.png"],
    ],
    [
      "is the HTML and the plain text that belong to the same alternative",
      multi("alternative", multi("mixed", html, plain)),
      "11\n\n12",
      [],
    ],
    [
      "is its own, not that of a message in its attachments",
      multi("mixed", html, enclosed(plain, "old.eml")),
      "1",
      ["old.eml"],
    ],
    ["is that of the enclosed message if it has none", multi("mixed", image, enclosed(plain)), "21", ["logo.png"]],
    [
      "is that of each place, before and behind a picture",
      multi("mixed", multi("alternative", plain, html), image, multi("alternative", html, plain), html),
      "11\n\n32\n\n4",
      ["logo.png"],
    ],
    ["is absent if all texts are files", multi("mixed", leaf("text/plain", "notes.txt")), undefined, ["notes.txt"]],
  ])("%s", async (_, tree, part, names) => {
    const found = await read(tree);
    expect(found.text).toBe(part);
    expect(found.names).toEqual(names);
  });
});
