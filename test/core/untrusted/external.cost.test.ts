/** Texts made to cost the scan more than their length. */
import { describe, test } from "vitest";
import { defuseExternal, findInjection } from "../../../core/untrusted/external.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";
import { expectLinear } from "../../support/linear.ts";

const scan = (text: string) => [findInjection(text), defuseExternal(text)];

describe("the cost of the scan grows linearly with the length of the text", () => {
  test.each(hostileFamilies.map(({ name, make }) => [name, make] as const))("%s", async (_name, make) => {
    await expectLinear(scan, make, { size: 50_000, times: 30 });
  });
});
