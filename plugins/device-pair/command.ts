/** `/pair` in a chat: creates a code for a new device, lists requests and devices, approves and revokes them. */
import type { Address, CommandDefinition, PluginLog } from "service-gateway/sdk";
import type { Device, Devices } from "./devices.ts";

export function pairCommand(options: {
  readonly devices: Devices;
  /** The base address at which devices reach the gateway. */
  readonly address: () => string;
  readonly codeTtlSeconds: number;
  readonly log: Pick<PluginLog, "info">;
}): CommandDefinition {
  const { devices, address, log } = options;

  async function invite(at: Address | null): Promise<string> {
    const code = await devices.invite(at);
    const near = isLoopback(address())
      ? "\n\nThis address works on the gateway's own machine only; " +
        "`plugins.entries.device-pair.options.address` sets another one."
      : "";
    return [
      `**Pair a device**`,
      `Open \`${address()}/devices/pair\` on it, and give it this code:`,
      `\`${code}\``,
      `It works once, for ${minutes(options.codeTtlSeconds)}. I will write here when the device asks.${near}`,
    ].join("\n\n");
  }

  async function approve(id: string | undefined): Promise<string> {
    const device = await devices.approve(id);
    if (device !== null) {
      log.info({ device: device.id }, "a device is approved");
      return (
        `Approved: ${describe(device)}. It may use the gateway from now on; \`/pair revoke ` +
        `${device.id}\` revokes it.`
      );
    }
    return id === undefined
      ? "No device waits for approval. `/pair` makes a code for one."
      : "No waiting device has this id. `/pair status` lists them.";
  }

  async function revoke(id: string | undefined): Promise<string> {
    if (id === undefined) return "Which one? `/pair status` lists the ids; then `/pair revoke ID`.";
    const device = await devices.revoke(id);
    if (device === null) return "There is no device with this id. `/pair status` lists them.";
    log.info({ device: device.id }, device.approvedAt === undefined ? "a device is denied" : "a device is revoked");
    return device.approvedAt === undefined
      ? `Turned down: ${describe(device)}.`
      : `Revoked: ${describe(device)}. Its token is no longer valid.`;
  }

  async function status(): Promise<string> {
    const all = await devices.list();
    const waiting = all.filter(({ approvedAt }) => approvedAt === undefined);
    const approved = all.filter(({ approvedAt }) => approvedAt !== undefined);
    return [
      waiting.length === 0
        ? "No device waits for approval."
        : ["**Waiting**", ...waiting.map((one) => `- ${describe(one)}, from \`${one.askedFrom}\``)].join("\n"),
      approved.length === 0
        ? "No device is paired."
        : ["**Paired**", ...approved.map((one) => `- ${describe(one)}, ${stateOf(one)}`)].join("\n"),
    ].join("\n\n");
  }

  return {
    name: "pair",
    summary: "let a device use the gateway",
    args: "[approve [ID] | status | revoke ID]",
    role: "owner",
    control: true,
    async run({ args, inbound, route }) {
      if (inbound.chat.kind !== "direct")
        return "Pairing works in a direct chat with me, where no one else can read the code.";
      const [word = "", id, ...more] = args.split(/\s+/).filter((part) => part !== "");
      const known = more.length === 0 ? word.toLowerCase() : "";
      if (args === "") return await invite(route.to);
      if (known === "approve") return await approve(id);
      if (known === "revoke") return await revoke(id);
      if (known === "status" && id === undefined) return await status();
      return "Use `/pair`, `/pair approve`, `/pair approve ID`, `/pair status` or `/pair revoke ID`.";
    },
  };
}

/**
 * The message in the chat in which the code was requested. The device chose its name, so the name is on a line of its
 * own.
 */
export function announcement({
  id,
  name,
  from,
}: {
  readonly id: string;
  readonly name: string;
  readonly from: string;
}): string {
  return [
    `A device asks to use the gateway, from \`${from}\`. \`/pair approve ${id}\` approves it, \`/pair ` +
      `revoke ${id}\` denies it.`,
    `The name it gives: \`"${name}"\``,
  ].join("\n");
}

const describe = ({ id, name }: Pick<Device, "id" | "name">): string => `\`${name}\` (\`${id}\`)`;

function stateOf({ connected, usedAt }: Device): string {
  if (!connected) return "has not fetched its token yet";
  return usedAt === undefined
    ? "never used"
    : `last used ${new Date(usedAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function minutes(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  return `${Math.floor(seconds / 60)} minutes`;
}

/**
 * Whether only the gateway's own machine can reach the address. This includes 0.0.0.0, because it does not show which
 * address others can use.
 */
function isLoopback(address: string): boolean {
  return /^https?:\/\/(127\.|0\.0\.0\.0[:/]|localhost[:/]|localhost$|\[::1?\])/.test(address);
}
