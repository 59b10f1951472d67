import { setTimeout as delay } from "node:timers/promises";
import type { EngineDefinition, EngineTurn, Inbound, PluginHost, TurnEvent } from "service-gateway/sdk";
import { describe, expect, test } from "vitest";
import { isHeartbeatAck } from "../../../core/reply/silence.ts";
import { wrapExternal } from "../../../core/untrusted/external.ts";
import echo from "../../../plugins/echo/index.ts";
import { pieces } from "../../../plugins/echo/pace.ts";
import { shows } from "../../../plugins/echo/shows.ts";

function openEngine(delayMs = 0): EngineDefinition {
  let engine: EngineDefinition | undefined;
  const host = {
    engine(definition: EngineDefinition) {
      engine = definition;
    },
  };
  void echo.setup(host as unknown as PluginHost, { delayMs, offer: false });
  if (engine === undefined) throw new Error("the plugin registered no engine");
  return engine;
}

function turnOf(text: string, inbound: Partial<Inbound> = {}): EngineTurn {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    inbound: { text, authority: "channel", media: [], ...inbound } as unknown as Inbound,
    fallbacks: [],
    thinking: "off",
    instructions: "",
    messages: [{ role: "user", text: `[irc Ada id:1 now] ${text}` }],
    tools: [],
    providers: {},
  };
}

async function collect(stream: AsyncIterable<TurnEvent>): Promise<readonly TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function textOf(events: readonly TurnEvent[]): string {
  return events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
}

const never = new AbortController().signal;
const ask = (text: string, inbound?: Partial<Inbound>) => collect(openEngine().run(turnOf(text, inbound), never));

describe("the echoed input", () => {
  test.each([
    "hello",
    "  spaces\n\nand lines  ",
    "callback_data: yes",
    "<b>& *Markdown*",
    "👩‍👩‍👧",
    "show me the money",
  ])("%j is returned unchanged", async (text) => {
    expect(await ask(text)).toEqual([{ type: "text", delta: text }, { type: "done" }]);
  });

  test("the reply to a pressed button names its value, without the platform's word for it", async () => {
    expect(textOf(await ask("callback_data: later", { kind: "press" }))).toBe(
      "You pressed the button with the value `later`.",
    );
  });

  test("an empty text gets a reply in words rather than silence", async () => {
    expect(textOf(await ask(" "))).toBe("You sent no text.");
  });

  test("files are described by kind, type and size, or by their error", async () => {
    const media = [
      { kind: "image", ref: "a", path: "/state/a.png", mimeType: "image/png", size: 508 },
      { kind: "document", ref: "b", unavailable: "the file is gone" },
      { kind: "sticker", ref: "c", sticker: { animated: true } },
    ] as const;
    expect(textOf(await ask("look", { media }))).toBe(
      "look\n- image, image/png, 508 bytes\n- document, not here: the file is gone\n- sticker",
    );
  });

  test("the same input always gets the same answer", async () => {
    for (const show of shows.filter((one) => one.fails === undefined && one.waitMs === undefined)) {
      expect(await ask(`show ${show.name}`)).toEqual(await ask(`show ${show.name}`));
    }
  });
});

describe("the pace", () => {
  test("a word of several thousand letters, such as a token in a webhook, is one piece and is handled at once", () => {
    const startedAt = performance.now();
    expect(pieces(`${"a".repeat(2_500)} b c d e${" ".repeat(2_500)}`)).toHaveLength(2);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test("pieces contain a few words each and join to the original text", () => {
    const text = "  One two three, four\n\nfive\tsix seven. ";
    expect(pieces(text).join("")).toBe(text);
    expect(pieces(text).length).toBeGreaterThan(2);
    expect(pieces("")).toEqual([]);
    expect(pieces(" \n ").join("")).toBe(" \n ");
    expect(pieces("a b c d e \n")).toEqual(["a b c", " d e \n"]);
  });

  test("with a delay, the text grows in order, piece by piece", async () => {
    const text = "one two three four five six seven eight nine";
    const began = performance.now();
    const events = await collect(openEngine(10).run(turnOf(text), never));
    expect(textOf(events)).toBe(text);
    expect(events.filter((event) => event.type === "text")).toHaveLength(3);
    expect(performance.now() - began).toBeGreaterThanOrEqual(20);
  });

  test("three hundred characters take between one and two and a half seconds by default", () => {
    const text = "A sentence with words of the usual length. ".repeat(7).slice(0, 300);
    const { delayMs } = (
      echo.options as unknown as { readonly properties: { readonly delayMs: { readonly default: number } } }
    ).properties;
    const seconds = (pieces(text).length * delayMs.default) / 1_000;
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(2.5);
  });

  // Tried again: the machine may do something else in such a moment.
  test("an abort ends the answer at once with its reason", { retry: 5 }, async () => {
    const stopper = new AbortController();
    const reason = new Error("stopped");
    const ends = collect(openEngine(5_000).run(turnOf("one two three four five six"), stopper.signal));
    ends.catch(() => undefined);
    await delay(10);
    const began = performance.now();
    stopper.abort(reason);
    await expect(ends).rejects.toBe(reason);
    expect(performance.now() - began).toBeLessThan(200);
  });
});

describe("the fixed requests", () => {
  test.each(["show", "Show.", "help", "help me", "HELP ME!"])("%j lists all fixed requests", async (text) => {
    const list = textOf(await ask(text));
    for (const show of shows) expect(list).toContain(`\`show ${show.name}\``);
  });

  test.each(["show table", "Show a table", "show me the table.", "SHOW TABLE"])("%j is recognized", async (text) => {
    expect(textOf(await ask(text))).toContain("| Planet |");
  });

  test("cover everything that channels must be able to display", async () => {
    expect(textOf(await ask("show markdown"))).toMatch(/\*\*Bold\*\*[\s\S]*- \[x\][\s\S]*> A quotation/);
    expect(textOf(await ask("show code"))).toContain("```ts\n");
    expect(textOf(await ask("show long")).length).toBeGreaterThan(2 * 4_096);
    expect(textOf(await ask("show reply"))).toBe("[[reply_to_current]] This replies to your message.");
    expect(textOf(await ask("show silence"))).toBe("NO_REPLY");
  });

  test("buttons follow the text and fit into 64 bytes", async () => {
    const events = await ask("show buttons");
    expect(events.map((event) => event.type)).toEqual(["text", "buttons", "done"]);
    const [buttons] = events.filter((event) => event.type === "buttons");
    for (const button of buttons?.buttons.flat() ?? []) expect(Buffer.byteLength(button.value)).toBeLessThanOrEqual(64);
  });

  test("media is a real picture that requires no network", async () => {
    const [event] = (await ask("show media")).filter((one) => one.type === "media");
    const bytes = Buffer.from(event?.media.data ?? "", "base64");
    expect([...bytes.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    expect(bytes.length).toBeLessThan(20_000);
  });

  test("reasoning precedes the answer", async () => {
    const events = await ask("show reasoning");
    expect(events.map((event) => event.type)).toEqual(["reasoning", "text", "done"]);
    expect(textOf(events), "who does not see the thoughts reads how to").toContain("`/reasoning on`");
  });

  test("an error is thrown with a reason and a hint", async () => {
    await expect(ask("show error")).rejects.toMatchObject({
      name: "EngineError",
      reason: "asked_to_fail",
      hint: expect.stringContaining("show error"),
    });
  });

  test("slow waits and can be stopped while waiting", async () => {
    const stopper = new AbortController();
    const ends = collect(openEngine().run(turnOf("show slow"), stopper.signal));
    setTimeout(() => stopper.abort(new Error("stopped")), 20);
    await expect(ends).rejects.toThrow("stopped");
  });
});

describe("input that no person wrote", () => {
  const heartbeat = (events: readonly string[]): Partial<Inbound> => ({
    authority: "hook",
    request: { heartbeat: { events, scheduled: events.length === 0 } },
  });

  test("the answer names the events of a heartbeat", async () => {
    expect(textOf(await ask("prompt", heartbeat(["The build\nfailed."])))).toBe(
      "Something happened: The build failed.",
    );
    expect(textOf(await ask("prompt", heartbeat(["one", "two"])))).toBe("2 things happened:\n\n- one\n- two");
    expect(textOf(await ask("prompt", heartbeat(["x".repeat(5_000)]))).length).toBeLessThan(600);
  });

  test("a heartbeat without events is acknowledged, so nothing is sent", async () => {
    expect(isHeartbeatAck(textOf(await ask("prompt", heartbeat([]))))).toBe(true);
  });

  test("a successful hook run is not reported again, and a failed one is", async () => {
    expect(textOf(await ask("prompt", heartbeat(["Hook Deploy: all green"])))).toBe("HEARTBEAT_OK");
    expect(textOf(await ask("prompt", heartbeat(["Hook Deploy: all green", "The bell rang."])))).toBe(
      "Something happened: The bell rang.",
    );
    expect(textOf(await ask("prompt", heartbeat(["Hook Deploy (turn_timeout): no reply"])))).toContain("turn_timeout");
  });

  test("a hook's message is echoed without the marks around it", async () => {
    const text = wrapExternal({
      text: "Deploy finished.\n---\nAll green.",
      source: "webhook",
      id: "01ABC",
      metadata: { Hook: "Deploy" },
    });
    expect(textOf(await ask(text, { authority: "hook" }))).toBe("Deploy finished.\n---\nAll green.");
  });

  test("a hook's message is never treated as a fixed request", async () => {
    expect(textOf(await ask("show long", { authority: "hook" }))).toBe("show long");
  });
});
