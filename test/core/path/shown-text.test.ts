import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createShownText, type ShownTextOptions } from "../../../core/path/shown-text.ts";
import { applyReplyTags, withoutTagsSoFar } from "../../../core/reply/reply-tags.ts";
import { silenceReason, speakable } from "../../../core/reply/silence.ts";
import { createHooks, type HookTable } from "../../../core/stations/stations.ts";
import { Visit } from "../../../core/stations/visit.ts";
import { message, route } from "../agents/inbound.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const context = { inbound: message("hi"), route: route() };

function open(more: { readonly tap?: HookTable["formatting"]; readonly asSent?: ShownTextOptions["asSent"] } = {}) {
  const hooks = createHooks({ onObserverError: () => {} });
  if (more.tap !== undefined) hooks.tap("guest", "formatting", more.tap);
  const seen: string[] = [];
  const errors: unknown[] = [];
  const shown = createShownText({
    hooks,
    context,
    visit: new Visit(),
    silence: (reply) => silenceReason(reply.text, { ackMaxChars: 300 }),
    asSent: more.asSent ?? ((reply) => reply),
    show: (text) => void seen.push(text),
    onError: (error) => void errors.push(error),
  });
  /** The text comes in pieces of one character, each long enough after the other to be looked at. */
  const write = async (text: string, thoughts = "") => {
    for (let length = 1; length <= text.length; length += 1) {
      shown.grow(text.slice(0, length), thoughts);
      await vi.advanceTimersByTimeAsync(100);
    }
    return seen;
  };
  return { shown, seen, errors, write };
}

describe("a growing text", () => {
  test.each([
    ["[[reply_to_current]] Hello.", /^ ?(?:H(?:e(?:l(?:l(?:o\.?)?)?)?)?)?$/],
    ["Hello. [[ reply_to : 12 ]]", /^Hello\. ?$|^H?e?l?l?o?$/],
    ["[[audio_as_voice]]Hello.", /^H?e?l?l?o?\.?$/],
    ["Hello. NO_REPLY", /^H?e?l?l?o?\.? ?$/],
    ["HEARTBEAT_OK all is quiet", /^$/],
    ["NO_REPLY", /^$/],
  ])("shows neither the tag or token of %j nor the beginning of one", async (text, allowed) => {
    for (const each of await open().write(text)) expect(each).toMatch(allowed);
  });

  test("in brackets is shown once it cannot be a tag", async () => {
    expect((await open().write("See [[the notes]] and a[0] and [[reply]].")).at(-1)).toBe(
      "See [[the notes]] and a[0] and [[reply]].",
    );
  });

  test("is shown as its reply will be, with the prefix and the changes of plugins", async () => {
    const { write } = open({
      tap: (reply) => ({ ...reply, text: reply.text.replaceAll("secret", "***") }),
      asSent: (reply) => ({ ...reply, text: `[bot] ${reply.text}` }),
    });
    const seen = await write("a secret thing");
    expect(seen.at(-1)).toBe("[bot] a *** thing");
    expect(seen.join()).not.toContain("secret");
  });

  test("is marked as incomplete for plugins", async () => {
    const previews: unknown[] = [];
    const { write } = open({ tap: (_reply, { preview }) => void previews.push(preview) });
    await write("x");
    expect(previews).toEqual([true]);
  });

  test("is no longer shown once a plugin fails, because that plugin may redact", async () => {
    let calls = 0;
    const { write, seen, errors } = open({
      tap: () => {
        calls += 1;
        if (calls === 3) throw new Error("redactor is down");
        return undefined;
      },
    });
    await write("abcdef");
    expect(seen).toEqual(["a", "ab"]);
    expect(calls).toBe(3);
    expect(errors).toHaveLength(1);
  });

  test("passes through a slow plugin one version at a time, and only the newest is shown", async () => {
    const texts: string[] = [];
    const { shown, seen } = open({
      tap: async (reply) => {
        texts.push(reply.text);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return reply;
      },
    });
    for (let length = 1; length <= 30; length += 1) {
      shown.grow("x".repeat(length), "");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(texts.length).toBeLessThanOrEqual(4);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(seen.at(-1)).toBe("x".repeat(30));
  });

  test("is no longer shown after the end, even if a plugin is late", async () => {
    const { shown, seen } = open({
      tap: async (reply) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return reply;
      },
    });
    shown.grow("one", "");
    await vi.advanceTimersByTimeAsync(500);
    shown.grow("two", "");
    shown.close();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen).toEqual([]);
  });

  test("is preceded by the reasoning, which stays if the reply is silent", async () => {
    const { write } = open();
    expect((await write("NO", "> thoughts\n\n")).at(-1)).toBe("> thoughts\n\n");
    expect((await write("NO_REPLY", "> thoughts\n\n")).at(-1)).toBe("> thoughts\n\n");
    expect((await write("Yes.", "> thoughts\n\n")).at(-1)).toBe("> thoughts\n\nYes.");
  });

  test("enters the conversation without the reasoning and the prefix", async () => {
    const { write, shown } = open({ asSent: (reply) => ({ ...reply, text: `[bot] ${reply.text}` }) });
    await write("Yes.", "> thoughts\n\n");
    expect(shown.last()).toEqual({ text: "[bot] > thoughts\n\nYes.", spoken: "Yes." });
  });
});

test("no beginning of a reply shows a tag that the whole reply hides", () => {
  for (const text of [
    "[[reply_to_current]] a [b](c) NO_REPLY",
    "see [[x]] [[reply_to:5]]",
    "a[1] = [[",
    "NO_REPLY - because",
  ]) {
    const whole = speakable(applyReplyTags({ text, media: [], buttons: [] }, context.inbound), {
      ackMaxChars: 300,
    }).text;
    for (let length = 0; length <= text.length; length += 1) {
      const shown = withoutTagsSoFar(text.slice(0, length));
      expect(shown).not.toMatch(/\[\[\s*(?:reply_to_current|reply_to\s*:)/i);
    }
    expect(whole).not.toMatch(/reply_to|NO_REPLY/);
  }
});
