/** Against the examples of the platforms' documents, and against the libraries that the platforms give to receivers. */
import { createHmac, randomBytes } from "node:crypto";
import recorded from "@octokit/webhooks-examples" with { type: "json" };
import { sign as signGithub, verify as verifyGithub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import type { SignatureSettings } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";

interface Example {
  readonly settings: SignatureSettings;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at?: number;
  readonly url?: string;
}

const examplesOfDocuments: Readonly<Record<string, Example>> = {
  github: {
    settings: { scheme: "github" },
    secret: "It's a Secret to Everybody",
    headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
    body: "Hello, World!",
  },
  slack: {
    settings: { scheme: "slack" },
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    at: 1_531_420_618,
  },
  "standard-webhooks": {
    settings: { scheme: "standard-webhooks" },
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
  },
  twilio: {
    settings: { scheme: "twilio", url: "https://mycompany.com/myapp.php" },
    secret: "12345",
    headers: { "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=" },
    body: "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
    url: "/myapp.php?foo=1&bar=2",
  },
  "hmac, RFC 4231 test case 2": {
    settings: { scheme: "hmac", header: "X-Signature" },
    secret: "Jefe",
    headers: { "x-signature": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
    body: "what do ya want for nothing?",
  },
  "hmac of 512 bits, RFC 4231 test case 2": {
    settings: { scheme: "hmac", header: "X-Signature", algorithm: "sha512" },
    secret: "Jefe",
    headers: {
      "x-signature":
        "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    },
    body: "what do ya want for nothing?",
  },
};

test.each(Object.entries(examplesOfDocuments))(
  "the documented example of %s is accepted, and with an extra byte it is rejected",
  (_name, example) => {
    const { settings, secret, headers, body, at = 1_700_000_000, url = "/hooks/x" } = example;
    const { verify } = compileSignature(settings, [secret]);
    expect(verify({ headers, body: Buffer.from(body), url, now: at * 1_000 })).toMatchObject({ ok: true });
    expect(verify({ headers, body: Buffer.from(`${body}x`), url, now: at * 1_000 }).ok).toBe(false);
  },
);

const now = Date.now();
const second = Math.floor(now / 1_000);
const bodies = ["", "{}", '{"id":"evt_1"}', "Grüße 🎉 \u2028", '\ufeff{"a":1}', "x".repeat(70_000), '{"a":"\\ud800"}'];

/** Small damages that a signature header or a body may have; the first one is none. */
function damages(text: string): readonly string[] {
  return [
    text,
    text.slice(0, -1),
    `${text}0`,
    text.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    text.toUpperCase(),
    "",
    "sha256=",
    text.slice(7),
  ];
}

describe("GitHub's own library", () => {
  test("makes signatures that the gateway accepts, for every recorded payload", async () => {
    const { verify } = compileSignature({ scheme: "github" }, ["old", "the secret"]);
    const events = recorded as unknown as readonly { readonly examples: readonly object[] }[];
    for (const payload of events.map(({ examples }) => JSON.stringify(examples[0])).slice(0, 60)) {
      const headers = { "x-hub-signature-256": await signGithub("the secret", payload) };
      expect(verify({ headers, body: Buffer.from(payload), url: "/", now })).toMatchObject({ ok: true });
    }
  });

  test("reaches the same verdict on every damaged request", async () => {
    const { verify } = compileSignature({ scheme: "github" }, ["the secret"]);
    for (const body of bodies.filter((text) => text !== "")) {
      const right = await signGithub("the secret", body);
      for (const [value, sent] of [
        ...damages(right).map((value) => [value, body] as const),
        [right, `${body} `] as const,
      ]) {
        const theirs = value !== "" && (await verifyGithub("the secret", sent, value));
        expect(
          verify({ headers: { "x-hub-signature-256": value }, body: Buffer.from(sent), url: "/", now }).ok,
          value,
        ).toBe(theirs);
      }
    }
  });
});

describe("Stripe's own library", () => {
  const { webhooks } = new Stripe("sk_test_x");
  const secret = "whsec_of_the_test";

  test("makes signatures that the gateway accepts", () => {
    const { verify } = compileSignature({ scheme: "stripe" }, [secret]);
    for (const body of bodies.filter((text) => text !== "")) {
      const header = webhooks.generateTestHeaderString({ payload: body, secret, timestamp: second });
      expect(verify({ headers: { "stripe-signature": header }, body: Buffer.from(body), url: "/", now }).ok).toBe(true);
    }
  });

  test("reaches the same verdict on damaged, old and multiple signatures", () => {
    const { verify } = compileSignature({ scheme: "stripe" }, [secret]);
    const body = '{"id":"evt_1","object":"event"}';
    const digest = (at: number, key = secret) => createHmac("sha256", key).update(`${at}.${body}`).digest("hex");
    const headers = [
      ...damages(`t=${second},v1=${digest(second)}`),
      ...[-301, -299, 0].map((shift) => `t=${second + shift},v1=${digest(second + shift)}`),
      `t=${second},v1=${digest(second, "old")},v1=${digest(second)}`,
      `t=${second},v1=${digest(second)},v1=${digest(second, "old")}`,
      `t=${second},v0=${digest(second)}`,
      `v1=${digest(second)}`,
      `t=${second}`,
    ];
    for (const header of headers) {
      const theirs = accepts(() => webhooks.constructEvent(body, header, secret));
      expect(
        verify({ headers: { "stripe-signature": header }, body: Buffer.from(body), url: "/", now: Date.now() }).ok,
        header,
      ).toBe(theirs);
    }
  });
});

describe("the Standard Webhooks library", () => {
  test("makes signatures that the gateway accepts, with secrets of every length", () => {
    for (let length = 16; length <= 64; length += 1) {
      const secret = `whsec_${randomBytes(length).toString("base64")}`;
      for (const form of [secret, secret.slice("whsec_".length)]) {
        const { verify } = compileSignature({ scheme: "standard-webhooks" }, [form]);
        const body = bodies[length % bodies.length] ?? "";
        const headers = {
          "webhook-id": `msg_${length}`,
          "webhook-timestamp": String(second),
          "webhook-signature": new Webhook(secret).sign(`msg_${length}`, new Date(second * 1_000), body),
        };
        expect(verify({ headers, body: Buffer.from(body), url: "/", now })).toMatchObject({
          ok: true,
          deliveryId: `msg_${length}`,
        });
      }
    }
  });

  test("reaches the same verdict on damaged, old and multiple signatures", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const webhook = new Webhook(secret);
    const { verify } = compileSignature({ scheme: "standard-webhooks" }, [secret]);
    const body = '{"test":1}';
    const sign = (at: number) => webhook.sign("msg_1", new Date(at * 1_000), body);
    const right = sign(second);
    const cases: readonly (readonly [string, number])[] = [
      ...damages(right).map((value) => [value, second] as const),
      ...[-302, -298, 298, 302].map((shift) => [sign(second + shift), second + shift] as const),
      [`v1,${"A".repeat(43)}= ${right}`, second],
      [`v2,${right.slice(3)} ${right}`, second],
      [`v2,${right.slice(3)}`, second],
      // Empty items.
      ...[`${right}  v1a,AAAA`, ` ${right}`, `${right} `, `  v1a,AAAA   ${right}  `, "  ", " v1a,AAAA  "].map(
        (value) => [value, second] as const,
      ),
      [right, second + 1],
    ];
    for (const [value, at] of cases) {
      const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(at), "webhook-signature": value };
      const theirs = accepts(() => webhook.verify(body, headers));
      expect(verify({ headers, body: Buffer.from(body), url: "/", now: Date.now() }).ok, value).toBe(theirs);
    }
  });
});

function accepts(judge: () => unknown): boolean {
  try {
    judge();
    return true;
  } catch {
    return false;
  }
}
