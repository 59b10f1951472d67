import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { type SignatureSettings, schemes } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";
import { read } from "../../house/sources.ts";

const section = read("examples/reference/webhook-signatures.md").split("\n## ")[0] ?? "";

test("the page has a row for each scheme with its header", () => {
  const rows = [...section.matchAll(/^\| `([a-z-]+)` \| `([A-Za-z0-9-]+)` \|/gm)].map(([, name, header]) => [
    name,
    header?.toLowerCase(),
  ]);
  expect(Object.fromEntries(rows)).toEqual({
    ...Object.fromEntries(Object.entries(schemes).map(([name, { header }]) => [name, header])),
    hmac: "header",
    "public-key": "header",
    jwt: "header",
  });
});

test("the signatures in the configuration of the page are accepted as printed", () => {
  const config = parse(/```jsonc\n(.*?)```/s.exec(section)?.[1] ?? "") as {
    readonly hooks: {
      readonly mappings: readonly { readonly signature: SignatureSettings & { readonly secret: unknown } }[];
    };
  };
  expect(config.hooks.mappings).toHaveLength(3);
  for (const { signature } of config.hooks.mappings) {
    const { secret: _, ...settings } = signature;
    expect(() => compileSignature(settings, ["a secret"])).not.toThrow();
  }
});
