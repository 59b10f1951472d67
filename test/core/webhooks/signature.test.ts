import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type SignatureSettings, schemes } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";
import type { Verdict } from "../../../core/webhooks/signature/verdict.ts";
import { type Sender, type SentHook, senderOf, senders } from "../../support/senders.ts";

const at = 1_760_000_000_400;
const signed = senders.filter(({ name }) => name !== "gitlab");
const stamped = senders.filter(({ stamp }) => stamp !== undefined);

const verify = (
  sender: Sender,
  sent: SentHook,
  options: { readonly now?: number; readonly secrets?: readonly string[] } = {},
): Verdict =>
  compileSignature(sender.settings, options.secrets ?? [sender.secret]).verify({ ...sent, now: options.now ?? at });

const idOf = (verdict: Verdict): string | undefined => (verdict.ok ? verdict.deliveryId : `refused: ${verdict.reason}`);
const withHeader = (sent: SentHook, name: string, value: string): SentHook => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
});
const hexOf = (text: string, secret: string): string => createHmac("sha256", secret).update(text).digest("hex");

test("every scheme in the table has a test sender", () => {
  const tested = new Set(senders.map(({ settings }) => settings.scheme));
  expect(
    [...Object.keys(schemes), "hmac", "public-key"].filter((name) => !tested.has(name as SignatureSettings["scheme"])),
  ).toEqual([]);
});

describe.each(senders)("$name", (sender) => {
  const sent = sender.send({ at });

  test("accepts what the platform signs and hides the signature", () => {
    expect(verify(sender, sent)).toMatchObject({ ok: true });
    expect(compileSignature(sender.settings, [sender.secret]).secretHeaders).toContain(sender.header);
  });

  test("rejects another secret or a missing signature", () => {
    expect(verify(sender, sent, { secrets: [sender.otherSecret] }).ok).toBe(false);
    expect(verify(sender, withHeader(sent, sender.header, "")).ok).toBe(false);
    const { [sender.header]: _, ...without } = sent.headers;
    expect(verify(sender, { ...sent, headers: without }).ok).toBe(false);
  });

  test("accepts both the old and the new secret during a rotation, in any order", () => {
    const secrets = [sender.otherSecret, sender.secret];
    for (const list of [secrets, [...secrets].reverse()]) {
      for (const secret of secrets)
        expect(verify(sender, sender.send({ at, secret }), { secrets: list })).toMatchObject({ ok: true });
    }
    expect(verify(sender, sender.send({ at }), { secrets: [sender.otherSecret, sender.otherSecret] }).ok).toBe(false);
  });

  test("identifies the matching secret the same way when another secret is added", () => {
    const signer = (secret: string, secrets: readonly string[]) => {
      const verdict = verify(sender, sender.send({ at, secret }), { secrets });
      return verdict.ok ? verdict.signer : verdict.reason;
    };
    const [old, next] = [sender.secret, sender.otherSecret];
    expect(signer(old, [next, old])).toBe(signer(old, [old]));
    expect(signer(next, [next, old])).toBe(signer(next, [next]));
    expect(signer(next, [next, old])).not.toBe(signer(old, [next, old]));
    expect(signer(old, [old])).toMatch(/^[0-9a-f]{64}$/);
  });

  test("rejects a signature that is truncated, extended, empty, doubled or in other digits", () => {
    const value = sent.headers[sender.header] ?? "";
    const wrong = [
      value.slice(0, -1),
      value.slice(0, -2),
      `${value}0`,
      `${value}=`,
      `${value}00`,
      // Where blanks separate signatures, an empty item is passed over.
      ...(/^(?:webhook|svix)-/i.test(sender.header) ? [] : [` ${value}`, `${value} `]),
      `${value}\n`,
      `${value}, ${value}`,
      `${value},${value.replace(/^[a-z0-9]+=/, "x=")}, `,
      `"${value}"`,
      value.replace(/[0-9](?!.*[0-9])/, "\u0663"),
      value.replace(/[0-9a-zA-Z](?!.*[0-9a-zA-Z])/, "\uff11"),
      "sha256=",
      "v1=",
      "v1,",
      "v0=",
      "0",
      "0".repeat(64),
      "undefined",
      "x".repeat(100_000),
    ];
    for (const text of wrong.filter((candidate) => candidate !== value))
      expect(verify(sender, withHeader(sent, sender.header, text)).ok, JSON.stringify(text.slice(0, 90))).toBe(false);
  });

  test("rejects two signature headers, even if the first or last is valid", () => {
    const value = sent.headers[sender.header] ?? "";
    // Node joins them with a comma and a space.
    for (const joined of [`${value}, ${value}`, `${value}, x`, `x, ${value}`, `, ${value}`, `${value}, `]) {
      expect(verify(sender, withHeader(sent, sender.header, joined)).ok, joined).toBe(false);
    }
    expect(
      verify(sender, { ...sent, headers: { ...sent.headers, [sender.header]: [value, value] as unknown as string } })
        .ok,
    ).toBe(false);
  });
});

describe.each(signed)("$name, which signs the body", (sender) => {
  test("rejects any flipped bit in the body", () => {
    const { body, ...rest } = sender.send({ at });
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const flipped = Buffer.from(body);
      flipped.writeUInt8((flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      // A form may say the same in other bytes: a plus for a space.
      if (sender.settings.scheme === "twilio" && new URLSearchParams(flipped.toString()).toString() === body.toString())
        continue;
      expect(verify(sender, { ...rest, body: flipped }).ok, `bit ${bit}`).toBe(false);
    }
  });

  test("rejects any flipped bit in the signature", () => {
    const sent = sender.send({ at });
    const value = Buffer.from(sent.headers[sender.header] ?? "", "latin1");
    // What stands before the last signature is another one, or the time.
    const start = Math.max(0, value.lastIndexOf("v1="));
    for (let bit = start * 8; bit < value.length * 8; bit += 1) {
      const flipped = Buffer.from(value);
      flipped.writeUInt8((flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)), bit >> 3);
      if (
        /^(hmac|public-key)$/.test(sender.settings.scheme) &&
        flipped.toString("latin1").toLowerCase() === value.toString("latin1")
      )
        continue;
      expect(
        verify(sender, withHeader(sent, sender.header, flipped.toString("latin1"))).ok,
        flipped.toString("latin1"),
      ).toBe(false);
    }
  });

  test("rejects a reserialized body and one with an added byte order mark or line end", () => {
    const sent = sender.send({ at });
    if (sender.settings.scheme === "twilio") return;
    const text = sent.body.toString("utf8");
    const again = [
      JSON.stringify(JSON.parse(text), null, 1),
      text.replace("ü", "\\u00fc").replace('":', '": '),
      `\ufeff${text}`,
      `${text}\n`,
      ` ${text}`,
      "",
    ];
    for (const body of again) expect(verify(sender, { ...sent, body: Buffer.from(body) }).ok, body).toBe(false);
  });
});

describe("raw bodies", () => {
  test("with a byte order mark, invalid UTF-8 or no content are verified like any other", () => {
    const github = senderOf("github");
    for (const body of [Buffer.from('\ufeff{"a":1}'), Buffer.from([0xff, 0xfe, 0, 1]), Buffer.alloc(0)]) {
      const headers = {
        "x-hub-signature-256": `sha256=${createHmac("sha256", github.secret).update(body).digest("hex")}`,
      };
      expect(verify(github, { headers, body, url: "/hooks/x" })).toMatchObject({ ok: true });
    }
  });

  test("allow uppercase digits in a signature only under a generic scheme", () => {
    const upper = (sender: Sender): Verdict => {
      const sent = sender.send({ at });
      return verify(
        sender,
        withHeader(
          sent,
          sender.header,
          (sent.headers[sender.header] ?? "").replace(/[0-9a-f]{64,}/g, (hex) => hex.toUpperCase()),
        ),
      );
    };
    expect(upper(senderOf("hmac"))).toMatchObject({ ok: true });
    for (const name of ["github", "stripe", "slack", "linear", "zoom", "discord", "sentry"])
      expect(upper(senderOf(name)).ok, name).toBe(false);
  });
});

describe.each(stamped)("$name, which signs the time", (sender) => {
  test("accepts a time as old as the tolerance but not a second more, and the same in the future", () => {
    const sent = sender.send({ at });
    const second = sender.stamp === "body" ? at : Math.floor(at / 1_000) * 1_000;
    for (const [shift, ok] of [
      [0, true],
      [300_000, true],
      [301_000, false],
      [-300_000, true],
      [-301_000, false],
      [86_400_000, false],
      [-86_400_000, false],
    ] as const) {
      const verdict = verify(sender, sent, { now: second + shift });
      expect(verdict.ok, `${shift}`).toBe(ok);
      if (!verdict.ok)
        expect(verdict.reason).toMatch(
          shift > 0 ? /s old, and 300 s are allowed/ : /s in the future, and 300 s are allowed/,
        );
    }
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(verify(sender, sent, { now }).ok).toBe(false);
    const narrow = { ...sender, settings: { ...sender.settings, toleranceSeconds: 10 } };
    expect(verify(narrow, sent, { now: second + 10_000 }).ok).toBe(true);
    expect(verify(narrow, sent, { now: second + 11_000 }).ok).toBe(false);
  });

  test("rejects a time that differs from the signed one or is not a whole number", () => {
    const sent = sender.send({ at });
    const time = String(Math.floor(at / 1_000));
    const wrong = [
      Number(time) + 1,
      Number(time) - 1,
      `${time}.0`,
      `+${time}`,
      `0${time}`,
      ` ${time}`,
      `${time}e0`,
      `-${time}`,
      "",
      "now",
      "٣٤٥",
      `${time}, ${time}`,
      at + 1,
    ];
    for (const value of wrong) {
      let changed = sent;
      if (sender.stamp === "body")
        changed = { ...sent, body: Buffer.from(sent.body.toString().replace(String(at), String(value))) };
      else {
        const name =
          sender.stamp === "field"
            ? sender.header
            : (Object.keys(sent.headers).find((header) => sent.headers[header] === time) ?? "");
        changed = withHeader(sent, name, (sent.headers[name] ?? "").replace(time, String(value)));
      }
      expect(verify(sender, changed).ok, String(value)).toBe(false);
    }
  });
});

test("a signed body without its required time is rejected", () => {
  const linear = senderOf("linear");
  for (const body of [
    '{"a":1}',
    '{"webhookTimestamp":"1760000000400"}',
    '{"webhookTimestamp":null}',
    '{"webhookTimestamp":1.5e12}',
    "[]",
    "no json",
    "",
  ]) {
    const headers = { "linear-signature": hexOf(body, linear.secret) };
    expect(verify(linear, { headers, body: Buffer.from(body), url: "/" }).ok, body).toBe(false);
  }
});

describe("several signatures in one header", () => {
  test("one valid signature is enough at any position", () => {
    const stripe = senderOf("stripe");
    const body = "{}";
    const right = `v1=${hexOf(`1760000000.${body}`, stripe.secret)}`;
    const wrong = `v1=${"0".repeat(64)}`;
    const judge = (value: string) =>
      verify(stripe, { headers: { "stripe-signature": value }, body: Buffer.from(body), url: "/" }).ok;
    expect(judge(`t=1760000000,${wrong},${right}`)).toBe(true);
    expect(judge(`${right},${wrong},t=1760000000`)).toBe(true);
    expect(judge(`t=1760000000,${Array(13).fill(wrong).join(",")},${right}`)).toBe(true);
  });

  test("too many signatures, two times, no time, or the digest under another version are rejected", () => {
    const stripe = senderOf("stripe");
    const digest = hexOf("1760000000.{}", stripe.secret);
    const many = Array(16)
      .fill(`v1=${"0".repeat(64)}`)
      .join(",");
    for (const value of [
      `t=1760000000,${many},v1=${digest}`,
      `t=1760000000,t=1760000000,v1=${digest}`,
      `t=1760000000,t=1760000001,v1=${digest}`,
      `v1=${digest}`,
      `t=1760000000,v0=${digest}`,
      `t=1760000000,v2=${digest}`,
      `t=1760000000;v1=${digest}`,
      `t=1760000000,v1=${digest},v1=`,
      `t=1760000000,v1=${digest},,`,
      `t=1760000000, v1=${digest}`,
      `t=1760000000,v1=${digest},v1=zz`,
    ]) {
      expect(
        verify(stripe, { headers: { "stripe-signature": value }, body: Buffer.from("{}"), url: "/" }).ok,
        value,
      ).toBe(false);
    }
  });

  test("a secret and a public key of one sender can be used together", () => {
    const [shared, open] = [senderOf("standard-webhooks"), senderOf("standard-webhooks with a public key")];
    const both = [shared.secret, open.secret];
    const first = shared.send({ at });
    const second = open.send({ at });
    const joined = withHeader(first, shared.header, `${second.headers[shared.header]} ${first.headers[shared.header]}`);
    for (const sent of [first, second, joined])
      expect(verify(shared, sent, { secrets: both })).toMatchObject({ ok: true });
    expect(verify(shared, second).ok).toBe(false);
    expect(verify(open, first).ok).toBe(false);
  });
});

describe("the delivery id", () => {
  test("comes from a header signed with the time, so a retry with a new time has the same id", () => {
    for (const name of ["standard-webhooks", "svix", "hmac with a time and an id"]) {
      const sender = senderOf(name);
      expect(idOf(verify(sender, sender.send({ at, id: "d-1" }))), name).toBe("d-1");
      expect(idOf(verify(sender, sender.send({ at: at + 5_000, id: "d-1" }))), name).toBe("d-1");
    }
  });

  test("is a digest of what was signed, without other headers, if neither a time nor an id is signed", () => {
    for (const name of ["github", "shopify", "bitbucket", "sentry", "twilio"]) {
      const sender = senderOf(name);
      const first = idOf(verify(sender, sender.send({ at, id: "d-1" })));
      expect(first, name).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(idOf(verify(sender, sender.send({ at, id: "d-2" }))), name).toBe(first);
      expect(idOf(verify(sender, sender.send({ at: at + 5_000, id: "d-1" }))), name).not.toBe(first);
    }
  });

  test("of a secret sent in plain text combines its id and the body", () => {
    const gitlab = senderOf("gitlab");
    const id = (name: string, body: string) => idOf(verify(gitlab, gitlab.send({ at, id: name, body })));
    expect(id("d-1", "{}")).toBe(id("d-1", "{}"));
    expect(id("d-1", "{}")).not.toBe(id("d-2", "{}"));
    expect(id("d-1", "{}")).not.toBe(id("d-1", "[]"));
  });

  test("under hmac exists only with a signed time or id, or with dedupe set to body", () => {
    const hmac = senderOf("hmac");
    const sent = hmac.send({ at, body: "{}" });
    const named = (more: object, headers: Record<string, string> = {}): string | undefined =>
      idOf(
        verify(
          { ...hmac, settings: { ...hmac.settings, ...more } },
          { ...sent, headers: { ...sent.headers, ...headers } },
        ),
      );
    expect(named({}, { "idempotency-key": "x", "x-event": "x" })).toBeUndefined();
    expect(named({ dedupe: "body" })).toMatch(/^sha256:/);
    expect(named({ idHeader: "X-Event" }, { "x-event": "1" })).toMatch(/^sha256:/);
    expect(named({ idHeader: "X-Event" }, { "x-event": "1" })).toBe(named({ idHeader: "X-Event" }, { "x-event": "2" }));
    const withId = { ...hmac.settings, idHeader: "X-Event", payload: "{id}.{body}" };
    const signed = (id: string, body: string) =>
      idOf(
        verify(
          { ...hmac, settings: withId },
          {
            ...sent,
            body: Buffer.from(body),
            headers: { "x-signature": hexOf(`${id}.${body}`, hmac.secret), "x-event": id },
          },
        ),
      );
    expect(signed("1", "{}")).not.toBe(signed("2", "{}"));
    expect(signed("1", "{}")).not.toBe(signed("1", "[]"));
    expect(signed("1", "{}")).toBe(signed("1", "{}"));
  });

  test("comes from a field of the signed body, so a retry with a new time has the same id", () => {
    for (const [name, body, id] of [
      ["stripe", '{"id":"evt_1","pending_webhooks":1}', "evt_1"],
      ["slack", '{"type":"event_callback","event_id":"Ev1"}', "Ev1"],
      ["pagerduty", '{"event":{"id":"01ABC"}}', "01ABC"],
      ["typeform", '{"event_id":"LtWXD3crgy"}', "LtWXD3crgy"],
      ["discord", '{"id":"846462639134605312","type":2}', "846462639134605312"],
    ] as const) {
      const sender = senderOf(name);
      expect(idOf(verify(sender, sender.send({ at, body }))), name).toBe(id);
      expect(idOf(verify(sender, sender.send({ at: at - 60_000, body }))), name).toBe(id);
    }
  });

  test("without a named id is a digest of what was signed: the same bytes are the same delivery", () => {
    for (const name of ["twilio", "zoom", "calendly", "stripe", "slack", "linear"]) {
      const sender = senderOf(name);
      const first = idOf(verify(sender, sender.send({ at })));
      expect(first, name).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(idOf(verify(sender, sender.send({ at }), { now: at + 100_000 })), name).toBe(first);
      // The body of the calling card changes with the time, except for the sender that says so.
      if (name !== "linear") expect(idOf(verify(sender, sender.send({ at: at + 1_000 }))), name).not.toBe(first);
    }
  });

  test("stays the same for a retry with a new time in the signed body or beside it", () => {
    for (const name of ["linear", "calendly", "zoom", "discord"]) {
      const sender = senderOf(name);
      const body = '{"event":"e"}';
      expect(idOf(verify(sender, sender.send({ at: at + 60_000, body }))), name).toBe(
        idOf(verify(sender, sender.send({ at, body }))),
      );
    }
  });

  test("never comes from an unsigned header if a signed header or a signed time identifies the delivery", () => {
    for (const name of ["stripe", "slack", "linear", "standard-webhooks", "zoom", "discord", "hmac", "twilio"]) {
      const sender = senderOf(name);
      const sent = sender.send({ at });
      const named = {
        ...sent,
        headers: { ...sent.headers, "idempotency-key": "x", "x-github-delivery": "x", "linear-delivery": "x" },
      };
      expect(idOf(verify(sender, named)), name).toBe(idOf(verify(sender, sent)));
    }
  });

  test("is absent if the value is empty, too long, doubled or not printable", () => {
    const gitlab = senderOf("gitlab");
    const { headers, ...sent } = gitlab.send({ at });
    for (const name of ["", "x".repeat(257), "a, b", "a b", "a\u0000b", "ü"]) {
      expect(idOf(verify(gitlab, { ...sent, headers: { ...headers, "idempotency-key": name } }))).toBeUndefined();
    }
    const stripe = senderOf("stripe");
    for (const body of ['{"id":7}', '{"id":""}', '{"id":{"a":1}}', '{"id":"a b"}', "[]", "null", "x"]) {
      expect(idOf(verify(stripe, stripe.send({ at, body }))), body).toMatch(/^sha256:/);
    }
    const standard = senderOf("standard-webhooks");
    for (const id of ["", "a.b", "a b", "x".repeat(257)])
      expect(verify(standard, standard.send({ at, id })).ok, id).toBe(false);
  });

  test("is absent for a plain shared secret without a named id, because nothing is signed", () => {
    const gitlab = senderOf("gitlab");
    expect(verify(gitlab, { headers: { "x-gitlab-token": gitlab.secret }, body: Buffer.from("{}"), url: "/" })).toEqual(
      {
        ok: true,
        signer: expect.any(String),
      },
    );
  });
});
