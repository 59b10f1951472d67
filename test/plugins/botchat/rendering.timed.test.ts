/** Replies made to cost more than their length, on their whole way to the messages of the platform. */
import { describe, test } from "vitest";
import { createGrowingText } from "../../../plugins/botchat/send/growing-text.ts";
import { chunkMarkdown, textPayload } from "../../../plugins/botchat/send/render.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";
import { expectLinear } from "../../support/linear.ts";

const families = hostileFamilies.map(({ name, make }) => [name, make] as const);
const settings = { textChunkLimit: 4_000, chunkMode: "newline", linkPreview: true } as const;

describe("the cost of a reply grows with its length", () => {
  test.each(families)("%s", async (_name, make) => {
    const render = (text: string) => chunkMarkdown(text, settings).map((chunk) => textPayload(chunk, settings));
    await expectLinear(render, make, { size: 12_000, times: 60 });
  });
});

// Every fourth family: each costs a dozen renderings.
describe("the cost of a preview that is edited again and again grows with the length of the reply", () => {
  test.each(families.filter((_, index) => index % 4 === 0))("%s", async (_name, make) => {
    const grow = (text: string) => {
      const messagesOf = createGrowingText(settings);
      for (let length = 4_000; length <= text.length; length += 4_000) messagesOf(text.slice(0, length));
    };
    await expectLinear(grow, make, { size: 20_000, times: 100 });
  });
});
