import { generateKeyPairSync } from "node:crypto";
import { expect, test, vi } from "vitest";
import { createRoom } from "./gmail-room.ts";

const room = createRoom();
const email = "push@mail-project-1.test";
const audience = "https://gateway.example.org/mail";
const section = { mode: "push", subscription: undefined, push: { audience, serviceAccount: email } };
const address = () => `${room.gateway().gateway.url}/plugins/mail/gmail/${encodeURIComponent(room.google().address)}`;
const seconds = () => Math.floor(Date.now() / 1_000);
const claims = (more: object = {}) => ({
  ...{ iss: "https://accounts.google.com", aud: audience, email, email_verified: true, iat: seconds(), exp: seconds() + 3_600 },
  ...more,
});
const foreignKey = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const sign = (...args: Parameters<ReturnType<typeof room.google>["accounts"]["pushToken"]>) => room.google().accounts.pushToken(...args);

/** As Pub/Sub posts; `undefined`: without a token. */
async function post(
  token: string | undefined,
  notice: object = { emailAddress: room.google().address, historyId: 99_999 },
): Promise<number> {
  const data = Buffer.from(JSON.stringify(notice)).toString("base64");
  const response = await fetch(address(), {
    method: "POST",
    headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ message: { data, messageId: "1" }, subscription: "projects/p/subscriptions/s" }),
  });
  await response.arrayBuffer();
  return response.status;
}

test("a notice that Pub/Sub posts runs the mail and is acknowledged; one of another mailbox, too", async () => {
  await room.start(section);
  const { pubsub } = room.google();
  const pushConfig = { pushEndpoint: address(), oidcToken: { serviceAccountEmail: email, audience } };
  pubsub.arrange(room.google().topic, "projects/mail-project-1/subscriptions/push", { pushConfig });
  room.google().mailbox.deliver({ subject: "Pushed" });
  await room.arrived(1);
  await vi.waitFor(() => expect(pubsub.posted.map(({ status }) => status)).toEqual([204]), 60_000);
  expect(await post(sign(claims()), { emailAddress: "eve@example.net", historyId: "7" })).toBe(204);
  expect(await post(sign(claims()), {})).toBe(400);
});

test("a notice without a token that Google signed for this gateway is refused, and nothing is read because of it", async () => {
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
  for (const token of Object.values(forged)) if (token !== undefined && token.length > 10) expect(room.log()).not.toContain(token);
});

test("a key that Google has replaced is fetched once it is used, and not for each token with an unknown one", async () => {
  await room.start(section);
  expect(await post(sign(claims()))).toBe(204);
  for (let at = 0; at < 20; at += 1) await post(sign(claims(), { kid: `unknown-${at}`, key: foreignKey }));
  expect(room.google().callsOf(/certs$/)).toBeLessThan(5);
  room.google().accounts.rotate("key-2");
  await vi.waitFor(async () => expect(await post(sign(claims()))).toBe(204), { timeout: 60_000, interval: 100 });
});

test("without a mailbox that is posted to there is nothing to post to", async () => {
  await room.start();
  expect(await post(sign(claims()))).toBe(404);
});
