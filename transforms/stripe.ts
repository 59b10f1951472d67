/**
 * Stripe: payments, invoices, subscriptions, refunds, disputes and payouts.
 *
 * `match: { path: "stripe" }`, `signature: { scheme: "stripe", secret: ... }`. Choose in the dashboard which events are
 * sent. Unknown events, and thin ones, which name their object only, yield a plain line with the event's name. One fact
 * often causes several events; `quiet` leaves out all but one.
 */
import {
  at,
  bold,
  type Context,
  code,
  link,
  list,
  type MessageFields,
  nothing,
  plain,
  say,
  word,
  words,
} from "./message.ts";

/** The reason for silence, then the events. */
const quiet: readonly (readonly [reason: string, ...events: string[]])[] = [
  [
    "only the end is reported",
    "payment_intent.created",
    "payment_intent.processing",
    "payment_intent.requires_action",
    "charge.pending",
  ],
  [
    "only the end is reported",
    "payment_intent.amount_capturable_updated",
    "payment_intent.partially_funded",
    "payout.created",
    "payout.updated",
  ],
  ["`charge.refunded` says it", "refund.created", "refund.updated", "charge.refund.updated"],
  [
    "`charge.dispute.created` and `.closed` report it",
    "charge.dispute.updated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.funds_reinstated",
  ],
  ["`invoice.paid` says it", "invoice.payment_succeeded", "invoice_payment.paid"],
  [
    "an invoice is reported when it is paid or its payment fails",
    "invoice.created",
    "invoice.updated",
    "invoice.finalized",
    "invoice.sent",
    "invoice.upcoming",
  ],
  [
    "an invoice is reported when it is paid or its payment fails",
    "invoice.will_be_due",
    "invoice.voided",
    "invoice.deleted",
  ],
  ["lines of an invoice", "invoiceitem.created", "invoiceitem.deleted"],
  ["another event reports it", "checkout.session.expired", "charge.captured", "charge.updated", "charge.expired"],
  [
    "bookkeeping",
    "balance.available",
    "customer.created",
    "customer.updated",
    "customer.source.created",
    "payment_method.attached",
  ],
  [
    "bookkeeping",
    "payment_method.detached",
    "payment_method.updated",
    "payment_method.automatically_updated",
    "mandate.updated",
  ],
  [
    "bookkeeping",
    "setup_intent.created",
    "setup_intent.succeeded",
    "transfer.created",
    "application_fee.created",
    "payout.reconciliation_completed",
  ],
];

/**
 * Decimal places by currency, where they are not two: amounts are integers of the smallest unit. Stripe treats ISK,
 * UGX, HUF and TWD as having two decimals although these are not in use: https://docs.stripe.com/currencies
 */
const decimals = new Map([
  ...["bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"].map(
    (name) => [name, 0] as const,
  ),
  ...["bhd", "jod", "kwd", "omr", "tnd"].map((name) => [name, 3] as const),
]);

/** An amount such as `1,234.50 EUR` or `5,000 JPY`; empty if it is not an amount. */
export function money(amount: unknown, currency: unknown): string {
  const name = word(currency).toLowerCase();
  if (typeof amount !== "number" || !Number.isSafeInteger(amount) || !/^[a-z]{3}$/.test(name)) return "";
  const places = decimals.get(name) ?? 2;
  const digits = String(Math.abs(amount)).padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
  const part = places === 0 ? "" : `.${digits.slice(-places)}`;
  return `${amount < 0 ? "−" : ""}${whole}${part} ${name.toUpperCase()}`;
}

interface Event {
  see(path: string): unknown;
  /** The previous value of a field, for `...updated`. */
  was(path: string): unknown;
  /** A field that is an amount in the object's currency, in bold. */
  sum(path: string): string;
  /** A field of epoch seconds as a date. */
  day(path: string): string;
  /** A link to the page in the dashboard. */
  page(markdown: string, folder: string, id: unknown): string;
}

/** A sentence, then details, one on each line; `null` if the event is not worth a message. */
type Story = readonly string[] | null;
type Teller = (event: Event) => Story;

/** The id in a field that is either an id or a whole object. */
const idOf = (value: unknown) => word(at(value, "id") ?? value);
const readable = (value: unknown, max = 60) => plain(word(value).replaceAll("_", " "), max);
const why = (...reasons: readonly unknown[]) =>
  plain(
    reasons.map(word).find((reason) => reason !== ""),
    200,
  );

const people = ["customer_name", "customer_details.name", "billing_details.name"];
const addresses = ["customer_email", "customer_details.email", "billing_details.email", "receipt_email"];

const customer = ({ see, page }: Event): string => {
  const named = [...people, ...addresses].map((path) => plain(see(path), 80)).find((name) => name !== "");
  const id = idOf(see("customer"));
  return page(named ?? code(id), "customers", id);
};

const from = (event: Event) => customer(event) && `from ${customer(event)}`;
const paid =
  ({ see, page }: Event) =>
  (markdown: string) =>
    page(markdown, "payments", idOf(see("payment_intent")) || idOf(see("charge")) || see("id"));

/** `2 × **Team** 49.00 EUR a month` for each item. */
const plans = ({ see }: Event): string => {
  const shown = list(see("items.data")).map((item) => {
    const price = at(item, "price") ?? at(item, "plan");
    const amount = money(at(price, "unit_amount") ?? at(price, "amount"), at(price, "currency"));
    const interval = readable(at(price, "recurring.interval") ?? at(price, "interval"), 20);
    const quantity = Number(at(item, "quantity"));
    const name = bold(word(at(price, "nickname")) || word(at(price, "lookup_key")));
    return words(quantity > 1 ? `${quantity} ×` : "", name, amount, amount && interval && `a ${interval}`);
  });
  return shown
    .filter((plan) => plan !== "")
    .slice(0, 5)
    .join(", ");
};

const subscription =
  (verb: string | ((event: Event) => string)): Teller =>
  (event) => {
    const { see, page } = event;
    const ended = why(
      see("cancellation_details.comment"),
      readable(see("cancellation_details.feedback")),
      readable(see("cancellation_details.reason")),
    );
    const what = words(page("subscription", "subscriptions", see("id")), "of", customer(event) || "a customer");
    return [words(what, typeof verb === "string" ? verb : verb(event)), plans(event), ended];
  };

/** Most updates of a subscription are bookkeeping. `previous_attributes` names what changed. */
const subscriptionUpdated: Teller = (event) => {
  const { see, was, day } = event;
  if (was("cancel_at_period_end") !== undefined || was("cancel_at") !== undefined) {
    const ends = see("cancel_at_period_end") === true || word(see("cancel_at")) !== "";
    return subscription(
      ends ? words("will end", day("cancel_at") && `on ${day("cancel_at")}`) : "will not end after all",
    )(event);
  }
  if (word(was("status")) !== "")
    return subscription(`is ${readable(see("status"))} now (it was ${readable(was("status"))})`)(event);
  if (["items", "plan", "quantity"].some((path) => was(path) !== undefined)) return subscription("was changed")(event);
  return nothing("bookkeeping of a subscription");
};

/** `covered` is a field that is set if another event reports the same, and that event. */
const payment =
  (verb: string, amount: string, [field, other]: readonly [field: string, other: string] = ["", ""]): Teller =>
  (event) => {
    const { see, sum } = event;
    if (field !== "" && idOf(see(field)) !== "") return nothing(`\`${other}\` says it`);
    const reason = why(
      see("last_payment_error.message"),
      see("failure_message"),
      see("failure_code"),
      readable(see("cancellation_reason")),
    );
    return [
      words(paid(event)(`payment of ${sum(amount) || "an amount"}`), from(event), verb),
      plain(see("description"), 200),
      reason,
    ];
  };

/** The event contains the total of all refunds of the payment. The previous value yields the amount of this one. */
const refund: Teller = (event) => {
  const { see, was, sum } = event;
  const [now, before] = [Number(see("amount_refunded")), Number(was("amount_refunded") ?? 0)];
  const part = bold(money(now - before, see("currency"))) || "a part";
  const whole = paid(event)(`payment of ${sum("amount") || "an amount"}`);
  return [words("refunded", part, "of the", whole, from(event)), readable(at(list(see("refunds.data"))[0], "reason"))];
};

const dispute =
  (verb: (event: Event) => string): Teller =>
  (event) => {
    const { see, sum, day } = event;
    const due = see("status") === "needs_response" ? day("evidence_details.due_by") : "";
    const reason = readable(see("reason"));
    return [
      words(paid(event)(`dispute over ${sum("amount") || "a payment"}`), verb(event)),
      reason && `Reason: ${reason}`,
      due && `**Evidence is due by ${due}**`,
    ];
  };

const invoice =
  (verb: string, amount = "amount_due", details: (event: Event) => string = () => ""): Teller =>
  (event) => {
    const { see, sum, page } = event;
    const name = page(words("invoice", plain(see("number"), 40)), "invoices", see("id"));
    return [words(name, sum(amount) && `over ${sum(amount)}`, from(event), verb), details(event)];
  };

const attempts = ({ see, day }: Event) => {
  const next = day("next_payment_attempt");
  return words(
    word(see("attempt_count")) && `Attempt ${plain(see("attempt_count"), 10)}.`,
    next ? `Next attempt on ${next}.` : "No further attempt.",
  );
};

const payout =
  (verb: string): Teller =>
  ({ see, sum, page, day }) => [
    words(page(`payout of ${sum("amount") || "an amount"}`, "payouts", see("id")), verb),
    day("arrival_date") && `Arrival: ${day("arrival_date")}`,
    why(see("failure_message"), readable(see("failure_code"))),
  ];

const checkout =
  (verb: string): Teller =>
  (event) => [
    words("checkout", event.sum("amount_total") && `of ${event.sum("amount_total")}`, from(event), verb),
    readable(event.see("payment_status")) && `Payment: ${readable(event.see("payment_status"))}`,
  ];

const stories = new Map<string, Teller>([
  ["payment_intent.succeeded", payment("succeeded", "amount_received", ["invoice", "invoice.paid"])],
  ["payment_intent.payment_failed", payment("failed", "amount", ["invoice", "invoice.payment_failed"])],
  ["payment_intent.canceled", payment("was cancelled", "amount")],
  ["charge.succeeded", payment("succeeded", "amount", ["payment_intent", "payment_intent.succeeded"])],
  ["charge.failed", payment("failed", "amount", ["payment_intent", "payment_intent.payment_failed"])],
  ["charge.refunded", refund],
  [
    "refund.failed",
    (event) => [
      words(paid(event)(`refund of ${event.sum("amount") || "an amount"}`), "failed"),
      readable(event.see("failure_reason")),
    ],
  ],
  ["charge.dispute.created", dispute(() => "was opened")],
  ["charge.dispute.closed", dispute(({ see }) => words("is closed:", readable(see("status")) || "no result"))],
  [
    "radar.early_fraud_warning.created",
    (event) => [words("early fraud warning for", paid(event)("a payment")), readable(event.see("fraud_type"))],
  ],
  ["review.opened", (event) => [words(paid(event)("a payment"), "waits for a review"), readable(event.see("reason"))]],
  ["checkout.session.completed", checkout("is complete")],
  ["checkout.session.async_payment_failed", checkout("was not paid")],
  ["invoice.payment_failed", invoice("was not paid", "amount_due", attempts)],
  ["invoice.payment_action_required", invoice("waits for the customer to confirm the payment")],
  ["invoice.overdue", invoice("is overdue")],
  ["invoice.marked_uncollectible", invoice("is given up as uncollectible")],
  [
    "invoice.finalization_failed",
    invoice("could not be finalized", "amount_due", ({ see }) => plain(see("last_finalization_error.message"), 200)),
  ],
  [
    "invoice.paid",
    (event) =>
      event.see("amount_paid") === 0
        ? nothing("an invoice without an amount")
        : invoice("is paid", "amount_paid")(event),
  ],
  [
    "customer.subscription.created",
    subscription(({ see }) => (see("status") === "trialing" ? "began with a trial" : "began")),
  ],
  ["customer.subscription.updated", subscriptionUpdated],
  ["customer.subscription.deleted", subscription("has ended")],
  ["customer.subscription.paused", subscription("is paused")],
  ["customer.subscription.resumed", subscription("goes on")],
  [
    "customer.subscription.trial_will_end",
    subscription(({ day }) => words("leaves its trial", day("trial_end") && `on ${day("trial_end")}`)),
  ],
  ["payout.paid", payout("is paid")],
  ["payout.failed", payout("failed")],
  ["payout.canceled", payout("was cancelled")],
]);

/** Epoch seconds as a date, such as `2026-03-04`. */
const date = (seconds: unknown) => {
  const time = new Date(typeof seconds === "number" ? seconds * 1_000 : Number.NaN);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, 10);
};

/** A thin event names its object and does not contain it: https://docs.stripe.com/event-destinations */
function thin(payload: unknown, type: string): MessageFields {
  const see = (path: string) => at(payload, path);
  const isTest = see("livemode") === false;
  const what = words(
    readable(
      word(see("related_object.type"))
        .replace(/^v\d+\./, "")
        .replaceAll(".", " "),
    ),
    code(see("related_object.id")),
  );
  return say({
    about: ["stripe", see("context") ?? see("account"), idOf(see("related_object")) || see("id")],
    blocks: [
      [
        `${isTest ? "**Stripe** (test mode)" : "**Stripe**"}: ${words(code(type), what && `for ${what}`)}`,
        why(see("data.developer_message_summary")),
      ]
        .filter((part) => part !== "")
        .join("\n"),
    ],
  });
}

export default function stripe({ payload }: Context): MessageFields | null | undefined {
  const type = word(at(payload, "type"));
  const object = at(payload, "data.object");
  // Not an event, so the mapping's own template applies.
  if (!/^[\w.[\]-]{1,100}$/.test(type)) return undefined;
  if (typeof object !== "object" || object === null) return thin(payload, type);
  const reason = quiet.find(([, ...events]) => events.includes(type))?.[0];
  if (reason !== undefined) return nothing(reason);
  const see = (path: string) => at(object, path);
  const isTest = at(payload, "livemode") === false;
  const account = /^acct_\w+$/.exec(word(at(payload, "account")))?.[0];
  const dashboard = ["https://dashboard.stripe.com", account ?? "", isTest ? "test" : ""]
    .filter((part) => part !== "")
    .join("/");
  const page = (markdown: string, folder: string, id: unknown) =>
    /^\w{3,100}$/.test(idOf(id)) ? link(markdown, `${dashboard}/${folder}/${idOf(id)}`) : markdown;
  const story = (stories.get(type) ?? (() => [words(code(type), code(see("id")))]))({
    see,
    was: (path) => at(at(payload, "data.previous_attributes"), path),
    sum: (path) => bold(money(see(path), see("currency"))),
    day: (path) => date(see(path)),
    page,
  });
  if (story === null) return null;
  const title = isTest ? "**Stripe** (test mode)" : "**Stripe**";
  const [line = "", ...details] = story;
  return say({
    about: ["stripe", account, idOf(see("customer")) || idOf(object)],
    blocks: [[`${title}: ${line}`, ...details].filter((part) => part !== "").join("\n")],
  });
}
