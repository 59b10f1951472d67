/** Vitest matchers for a test host. Importing the testkit registers them. */
import { expect } from "vitest";
import type { Outcome } from "../contract/index.ts";
import type { Ended } from "./host/endings.ts";
import type { TestHost } from "./host/options.ts";

/** The expected end of an event; absent fields are not compared. */
export interface ExpectedEnd {
  readonly outcome?: Outcome;
  /** Reason code, such as `sender_not_allowed`. */
  readonly reason?: string;
}

/** What `expect(host)` offers beside vitest's own matchers. */
export interface TestHostMatchers<R> {
  /**
   * Passes if the loopback channel sent a message with this text, or one that matches the pattern; with `chat` and
   * `thread`, in that place.
   *
   * @example
   * expect(host).toHaveDelivered(/code: [A-Z0-9]{4}/, { chat: "owner" });
   */
  toHaveDelivered(text: string | RegExp, place?: { readonly chat?: string; readonly thread?: string }): R;
  /**
   * Passes if an event of the host ended this way.
   *
   * @example
   * expect(host).toHaveEnded({ outcome: "refused", reason: "sender_not_allowed" });
   */
  toHaveEnded(end: ExpectedEnd): R;
}

declare module "vitest" {
  // The type parameters must be the same as vitest's.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends TestHostMatchers<R> {}
}

/** Fails on any value other than a host, because using the matcher on it is a mistake in the test. */
function assertHost(value: unknown, matcher: string): asserts value is TestHost {
  const host = value as Partial<TestHost> | null | undefined;
  if (typeof host?.outbox !== "function" || typeof host.ended !== "function")
    throw new TypeError(`${matcher} requires the result of createTestHost: expect(host).${matcher}(...)`);
}

function listed(lines: readonly string[], none: string): string {
  return lines.length === 0 ? none : lines.map((line) => `- ${line}`).join("\n");
}

/** With the sentence of the station that decided, such as what is wrong with the answer of a plugin. */
function renderEnd({ eventId, outcome, reason, decisions }: Ended): string {
  const detail = decisions.findLast(({ code }) => code === reason)?.detail;
  return `${outcome} (${reason}), event ${eventId}${detail === undefined ? "" : `: ${detail}`}`;
}

const fits = (text: string, wanted: string | RegExp) =>
  typeof wanted === "string" ? text.includes(wanted) : text.search(wanted) >= 0;

expect.extend({
  toHaveDelivered(
    received: unknown,
    wanted: string | RegExp,
    place: { readonly chat?: string; readonly thread?: string } = {},
  ) {
    assertHost(received, "toHaveDelivered");
    const outbox = received.outbox();
    const pass = outbox.some(
      ({ text, chat, thread }) =>
        fits(text, wanted) && (place.chat ?? chat) === chat && (place.thread === undefined || place.thread === thread),
    );
    const not = pass ? "not " : "";
    const where = Object.entries(place).map(([name, value]) => ` in the ${name} ${value}`);
    return {
      pass,
      message: () =>
        `expected the host ${not}to have delivered ${String(wanted)}${where.join("")}. It delivered:\n` +
        listed(
          outbox.map(({ text, chat, thread }) => `${thread === undefined ? chat : `${chat}, ${thread}`}: ${text}`),
          "nothing",
        ),
    };
  },
  toHaveEnded(received: unknown, wanted: ExpectedEnd) {
    assertHost(received, "toHaveEnded");
    const ended = received.ended();
    const pass = ended.some(
      ({ outcome, reason }) =>
        (wanted.outcome ?? outcome) === outcome && (wanted.reason === undefined || wanted.reason === reason),
    );
    const not = pass ? "not " : "";
    return {
      pass,
      message: () =>
        `expected an event of the host ${not}to have ended ${JSON.stringify(wanted)}. They ` +
        `ended:\n${listed(ended.map(renderEnd), "none")}`,
    };
  },
});
