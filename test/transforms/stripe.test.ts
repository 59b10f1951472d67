import { describe, expect, test } from "vitest";
import stripe, { money } from "../../transforms/stripe.ts";
import { read } from "../house/sources.ts";
import { delivery, matchesPage, samplesOf, survivesMutations, transformed } from "./deliveries.ts";

const samples = samplesOf("stripe");

describe("stripe", () => {
  test("every documented delivery produces the message on the page", () => matchesPage(stripe, "stripe", samples));

  test("every named event is an event of Stripe", () => {
    const known = new Set(
      [...read("node_modules/stripe/esm/resources/Events.d.ts").matchAll(/type: '([\w.]+)'/g)].map(([, name]) => name),
    );
    const tables = /const quiet[\s\S]*?\n\];|const stories[\s\S]*?\n\]\);/g;
    const text = read("transforms/stripe.ts").match(tables)?.join("\n") ?? "";
    const named = [
      ...text.matchAll(
        /"((?:payment_|charge|refund|invoice|customer|checkout|radar|review|payout|transfer|balance|mandate|setup_|application_)[\w.]*\.[a-z_]+)"/g,
      ),
    ];
    expect(known.size).toBeGreaterThan(200);
    expect(named.length).toBeGreaterThan(60);
    expect(named.map(([, name]) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  test("amounts have the decimals of their currency", () => {
    const amounts: readonly (readonly [amount: unknown, currency: unknown, shown: string])[] = [
      [0, "usd", "0.00 USD"],
      [5, "eur", "0.05 EUR"],
      [123456789, "usd", "1,234,567.89 USD"],
      [-250, "chf", "−2.50 CHF"],
      [500, "jpy", "500 JPY"],
      [1_000, "KRW", "1,000 KRW"],
      [1_500, "kwd", "1.500 KWD"],
      [500, "ugx", "5.00 UGX"],
      [100_000, "huf", "1,000.00 HUF"],
      [1.5, "usd", ""],
      ["100", "usd", ""],
      [100, "dollar", ""],
      [Number.MAX_SAFE_INTEGER + 1, "usd", ""],
    ];
    for (const [amount, currency, shown] of amounts) expect(money(amount, currency)).toBe(shown);
  });

  test("a thin event, which contains only a reference, produces one line", () => {
    const event = {
      id: "evt_test_65",
      object: "v2.core.event",
      type: "v1.billing.meter.error_report_triggered",
      livemode: false,
      related_object: { id: "mtr_12", type: "billing.meter", url: "/v1/billing/meters/mtr_12" },
      data: { developer_message_summary: "There is 1 invalid event" },
    };
    expect(transformed(stripe, delivery(event)).fields?.message).toBe(
      "**Stripe** (test mode): `v1.billing.meter.error_report_triggered` for billing meter `mtr_12`\nThere " +
        "is 1 invalid event",
    );
    const ofAccount = { object: "v2.core.event", type: "v2.core.account[requirements].updated", related_object: null };
    expect(transformed(stripe, delivery(ofAccount)).fields?.message).toBe(
      "**Stripe**: `v2.core.account[requirements].updated`",
    );
  });

  test("missing fields and fields of another type never throw, and the message stays bounded", () => {
    survivesMutations(
      stripe,
      samples.map(({ context }) => context),
    );
  });
});
