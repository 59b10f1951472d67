import { createRequire } from "node:module";
import { expect, test } from "vitest";
import mail from "../../../plugins/mail/index.ts";
import { removeDirectory, repeat, startGateway } from "../../support/gateway.ts";

const libraries = () =>
  Object.keys(createRequire(import.meta.url).cache).filter((file) => /\/node_modules\/(?:imapflow|html-to-text)\//.test(file));

test("without a mailbox neither library of mail is loaded", async () => {
  const running = await startGateway({
    config: { hooks: { enabled: true, token: "hook-token-of-the-test", presets: ["gmail"] } },
    plugins: [mail, repeat],
  });
  expect(libraries()).toEqual([]);
  await running.gateway.close();
  removeDirectory(running.directory);
  await Promise.all([import("imapflow"), import("html-to-text")]);
  expect(libraries(), "they would have been seen").not.toEqual([]);
});
