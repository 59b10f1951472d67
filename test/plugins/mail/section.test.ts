import { expect, test } from "vitest";
import { schemasOf } from "../../../core/host/declaration/schemas.ts";
import mail from "../../../plugins/mail/index.ts";
import { load } from "../../core/config/fixture.ts";

const read = (sections: object) =>
  load({ hooks: { enabled: true, token: "a-token-of-some-length", ...sections } }, {}, schemasOf([mail]));

test("a field of a mapping that a preset does not take is a warning", async () => {
  const { problems } = await read({ gmail: { deliver: false } });
  expect(problems).toMatchObject([
    { severity: "warning", path: "hooks.gmail.deliver", message: "this key is not known" },
  ]);
});

test("an error in a mailbox switches the hook server off, and a mailbox has its defaults", async () => {
  const { problems, disabled } = await read({
    imap: { accounts: { ada: { host: "imap.example.org", user: "ada", port: "993" } } },
  });
  expect(problems).toMatchObject([
    { severity: "error", path: "hooks.imap.accounts.ada.port", section: "hooks", line: 10 },
  ]);
  expect([...disabled]).toEqual(["hooks"]);
  const { config } = await read({ imap: { accounts: { ada: { host: "imap.example.org", user: "ada" } } } });
  expect(config.hooks).toMatchObject({
    imap: { accounts: { ada: { port: 993, folders: ["INBOX"], pollSeconds: 60 } } },
  });
});

test("a misspelt key is answered with the known key of the same length", async () => {
  const { problems } = await read({ gmail: { modle: "local/big" } });
  expect(problems).toMatchObject([{ severity: "warning", path: "hooks.gmail.modle", hint: "Did you mean model?" }]);
});
