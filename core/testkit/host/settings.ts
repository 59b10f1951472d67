/** The configuration of a test host: defaults that every test needs, with the test's own settings on top. */
import { randomBytes } from "node:crypto";
import { loopbackId, ownerId } from "./loopback.ts";

type Section = Readonly<Record<string, unknown>>;

const isSection = (value: unknown): value is Section =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Sections are merged key by key; lists and values are replaced. */
export function merge(base: Section, over: Section): Section {
  const merged = Object.entries(over).map(([key, value]) => {
    const before = base[key];
    return [key, isSection(before) && isSection(value) ? merge(before, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(merged) };
}

/** Everyone may write, in groups by addressing the bot; only `owner` owns it. Webhooks are on. */
export function testSettings(over: Section): Section {
  const base = {
    gateway: { port: 0, drainSeconds: 1 },
    state: { dir: "state" },
    log: { level: "warn" },
    commands: { ownerAllowFrom: [ownerId] },
    channels: { [loopbackId]: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open" } },
    hooks: { enabled: true, token: randomBytes(24).toString("hex") },
  };
  return merge(base, over);
}
