/**
 * What the tests of a watched Gmail mailbox share: a gateway beside a stand-in for Google, and the runs that it made.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect, vi } from "vitest";
import mail from "../../../plugins/mail/index.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, type Loopback, startGateway, type TestGateway } from "../../support/gateway.ts";
import { type Google, startGoogle } from "../../support/mail/google.ts";

interface Run {
  readonly session: string;
  readonly text: string;
  readonly at: number;
}

interface LaunchOptions {
  readonly hooks?: object;
  readonly now?: () => number;
  readonly directory?: string;
}

export type Room = ReturnType<typeof createRoom>;

/** Tests that each have a Google and a room of their own, so that they can run at the same time. */
export const test = base
  .extend("google", async ({ onTestFinished }) => {
    const google = await startGoogle();
    onTestFinished(() => google.close());
    google.pubsub.arrange(google.topic, google.subscription);
    return google;
  })
  .extend("mailbox", ({ google }) => google.mailbox)
  .extend("room", ({ google, onTestFinished }) => {
    const room = createRoom(google);
    onTestFinished(() => room.close());
    return room;
  });

function createRoom(google: Google) {
  const seen: Run[] = [];
  const engine = createEngine((turn) => {
    if (turn.inbound.kind !== "hook") return "hello";
    seen.push({ session: turn.sessionKey, text: turn.inbound.text, at: Date.now() });
    return "read";
  });
  let running: TestGateway | undefined;
  let chat: Loopback;

  const configOf = (section: object = {}, hooks: object = {}) => ({
    hooks: {
      enabled: true,
      token: "hook-token-of-the-test",
      gmail: {
        ...google.settings("pull"),
        maxPerHour: 1_000,
        ...section,
      },
      ...hooks,
    },
    channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
    agents: { defaults: { engine: "scripted" } },
  });
  const room = {
    seen,
    google,
    chat: () => chat,
    gateway: () => {
      if (running === undefined) throw new Error("no gateway runs");
      return running;
    },
    configOf,
    /** Where notices of this mailbox are posted. */
    pushAddress: () => `${room.gateway().gateway.url}/plugins/mail/gmail/${encodeURIComponent(google.address)}`,
    /** Without waiting for the mailbox. */
    async launch(section: object = {}, { hooks = {}, now, directory }: LaunchOptions = {}): Promise<TestGateway> {
      chat = createLoopback();
      running = await startGateway({
        config: configOf(section, hooks),
        plugins: [mail, engine, chat.plugin],
        ...(directory === undefined ? {} : { directory }),
        ...(now === undefined ? {} : { gateway: { now } }),
      });
      return running;
    },
    async start(section: object = {}, options: LaunchOptions = {}): Promise<TestGateway> {
      const started = await room.launch(section, options);
      await room.state("ok");
      return started;
    },
    /** As an operator edits the file. */
    edit(section: object) {
      const basics = { gateway: { port: 0, drainSeconds: 2 }, state: { dir: "state" } };
      writeFileSync(room.gateway().configFile, JSON.stringify({ ...basics, ...configOf(section) }));
    },
    async status(): Promise<
      { readonly state: string; readonly reason: string; readonly expires?: number } | undefined
    > {
      const { watched } = await room.gateway().gateway.describe();
      const [mailbox] = (watched.mail ?? []).filter(({ source }) => source === "gmail");
      return mailbox;
    },
    state: (state: string, ms = 10_000) =>
      vi.waitFor(async () => expect(await room.status()).toMatchObject({ state }), { timeout: ms, interval: 20 }),
    log: () => readFileSync(join(room.gateway().gateway.stateDirectory, "logs", "gateway.log"), "utf8"),
    arrived: (count: number, ms = 10_000) =>
      vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(count), { timeout: ms, interval: 5 }),
    /** Subjects in the order of the runs. */
    subjects: () => seen.map(({ text }) => /Subject: (.+)/.exec(text)?.[1]),
    looks: (): number => google.callsOf(/\/history$/),
    /** Something that is no mail happens, and the mailbox is looked at because of it. */
    async looked() {
      const before = room.looks();
      google.mailbox.touch();
      await vi.waitFor(() => expect(room.looks()).toBeGreaterThan(before), { timeout: 60_000, interval: 10 });
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
    async close(): Promise<void> {
      await running?.gateway.close();
      if (running !== undefined) removeDirectory(running.directory);
    },
  };
  return room;
}
