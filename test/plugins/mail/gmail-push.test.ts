import { generateKeyPairSync } from "node:crypto";
import { expect, vi } from "vitest";
import { test as base } from "./gmail-room.ts";

const email = "push@mail-project-1.test";
const audience = "https://gateway.example.org/mail";
const section = { mode: "push", subscription: undefined, push: { audience, serviceAccount: email } };
const seconds = () => Math.floor(Date.now() / 1_000);
const claims = (more: object = {}) => ({
  ...{
    iss: "https://accounts.google.com",
    aud: audience,
    email,
    email_verified: true,
    iat: seconds(),
    exp: seconds() + 3_600,
  },
  ...more,
});
const foreignKey = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const test = base
  .extend("sign", ({ google }) => google.accounts.pushToken)
  /** Posts as Pub/Sub does; `undefined`: without a token. */
  .extend("post", ({ google, room }) => {
    const ownNotice = { emailAddress: google.address, historyId: 99_999 };
    return async (token: string | undefined, notice: object = ownNotice): Promise<number> => {
      const data = Buffer.from(JSON.stringify(notice)).toString("base64");
      const response = await fetch(room.pushAddress(), {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ message: { data, messageId: "1" }, subscription: "projects/p/subscriptions/s" }),
      });
      await response.arrayBuffer();
      return response.status;
    };
  });

test("a posted Pub/Sub notice runs the mail and is acknowledged; one for another mailbox is only acknowledged", async ({
  google,
  room,
  sign,
  post,
}) => {
  await room.start(section);
  const { pubsub } = google;
  const pushConfig = { pushEndpoint: room.pushAddress(), oidcToken: { serviceAccountEmail: email, audience } };
  pubsub.arrange(google.topic, "projects/mail-project-1/subscriptions/push", { pushConfig });
  google.mailbox.deliver({ subject: "Pushed" });
  await room.arrived(1);
  await vi.waitFor(() => expect(pubsub.posted.map(({ status }) => status)).toEqual([204]), 60_000);
  expect(await post(sign(claims()), { emailAddress: "eve@example.net", historyId: "7" })).toBe(204);
  expect(await post(sign(claims()), {})).toBe(400);
});

test("a notice without a token signed by Google for this gateway is rejected and triggers no read", async ({
  room,
  sign,
  post,
}) => {
  await room.start(section);
  const looks = room.looks();
  const forged: Readonly<Record<string, string | undefined>> = {
    none: undefined,
    "no token at all": "x",
    "another audience": sign(claims({ aud: "https://elsewhere.example.org" })),
    "a list of audiences": sign(claims({ aud: [audience] })),
    "another issuer": sign(claims({ iss: "https://accounts.example.org" })),
    "another sender": sign(claims({ email: "eve@example.org" })),
    "a sender that is not verified": sign(claims({ email_verified: false })),
    "a verification in words": sign(claims({ email_verified: "true" })),
    expired: sign(claims({ exp: seconds() - 60 })),
    "without an end": sign(claims({ exp: undefined })),
    "an unknown key": sign(claims(), { kid: "key-2", key: foreignKey }),
    "a foreign key by the name of Google's": sign(claims(), { key: foreignKey }),
    "another algorithm": sign(claims(), { alg: "HS256" }),
    "no signature": sign(claims()).replace(/[^.]+$/, ""),
    "no signature, and no algorithm": sign(claims(), { alg: "none" }).replace(/[^.]+$/, ""),
    "the signature of another token": `${sign(claims({ sub: "2" }))
      .split(".")
      .slice(0, 2)
      .join(".")}.${sign(claims()).split(".")[2]}`,
  };
  for (const [name, token] of Object.entries(forged)) expect([name, await post(token)]).toEqual([name, 401]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(room.looks()).toBe(looks);
  expect(await post(sign(claims({ iss: "accounts.google.com" })))).toBe(204);
  await vi.waitFor(() => expect(room.looks()).toBeGreaterThan(looks), 60_000);
  for (const token of Object.values(forged))
    if (token !== undefined && token.length > 10) expect(room.log()).not.toContain(token);
});

test("a replaced Google key is fetched when it is used, but not for every token with an unknown key", async ({
  google,
  room,
  sign,
  post,
}) => {
  await room.start(section);
  expect(await post(sign(claims()))).toBe(204);
  for (let at = 0; at < 20; at += 1) await post(sign(claims(), { kid: `unknown-${at}`, key: foreignKey }));
  expect(google.callsOf(/certs$/)).toBeLessThan(5);
  google.accounts.rotate("key-2");
  await vi.waitFor(async () => expect(await post(sign(claims()))).toBe(204), { timeout: 60_000, interval: 100 });
});

test("without a push mailbox, a posted notice gets 404", async ({ room, sign, post }) => {
  await room.start();
  expect(await post(sign(claims()))).toBe(404);
});
