/** Devices in the console: the acts of `devices` as buttons. */
import type { PluginHost } from "service-gateway/sdk";
import type { Device, Devices } from "./devices.ts";

type Panel = Parameters<PluginHost["panel"]>[0];
type Entry = Awaited<ReturnType<Panel["entries"]>>[number];

const time = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function stateOf({ approvedAt, connected }: Device): Entry["state"] {
  if (approvedAt === undefined) return { word: "waiting", tone: "warn" };
  return connected ? { word: "paired", tone: "good" } : { word: "approved", tone: "quiet" };
}

function entryOf(device: Device): Entry {
  const { id, name, askedAt, askedFrom, approvedAt, usedAt } = device;
  const isWaiting = approvedAt === undefined;
  return {
    id,
    title: name,
    state: stateOf(device),
    facts: {
      id,
      asked: `${time(askedAt)}, from ${askedFrom}`,
      ...(isWaiting ? {} : { "last used": usedAt === undefined ? "never" : time(usedAt) }),
    },
    ...(isWaiting && { waits: "The device asks to use the gateway." }),
    acts: isWaiting ? ["approve", "deny"] : ["revoke"],
  };
}

export function devicesPanel(devices: Pick<Devices, "list" | "approve" | "revoke">): Panel {
  const gone = { ok: false, text: "The device is not there any more." };
  const outcomeOf = (device: Device | null, what: string) =>
    device === null ? gone : { ok: true, text: `${device.name} (${device.id}) is ${what}.` };
  return {
    id: "devices",
    title: "Devices",
    empty: "No device is paired, and none is waiting. /pair in a direct chat with the bot begins.",
    mayWait: true,
    entries: async () => (await devices.list()).map(entryOf),
    acts: {
      approve: {
        label: "Approve",
        role: "admin",
        run: async ({ id }) => outcomeOf(await devices.approve(id), "approved"),
      },
      deny: { label: "Deny", role: "admin", run: async ({ id }) => outcomeOf(await devices.revoke(id), "denied") },
      revoke: {
        label: "Revoke",
        role: "admin",
        confirm: "The device's token stops working at once. Revoke it?",
        run: async ({ id }) => outcomeOf(await devices.revoke(id), "revoked"),
      },
    },
  };
}
