/** `devices list|approve|revoke`: the command-line counterpart of `/pair`. Works with and without a running gateway. */
import type { CliAnswer, CliCall, CliDefinition, Json } from "service-gateway/sdk";
import { createDevices, type Device, type Devices } from "./devices.ts";
import { codeTtlSeconds, requestTtlSeconds } from "./options.ts";

const open = ({ store, now }: CliCall): Devices => createDevices({ store, now, codeTtlSeconds, requestTtlSeconds });
const time = (at: number | undefined): string =>
  at === undefined ? "" : `${new Date(at).toISOString().slice(0, 19)}Z`;

function stateOf({ approvedAt, connected }: Device): string {
  if (approvedAt === undefined) return "waiting";
  return connected ? "paired" : "approved, has not fetched its token yet";
}

async function list(call: CliCall): Promise<CliAnswer> {
  const devices = await open(call).list();
  const rows = devices.map((one) => [
    one.id,
    one.name,
    stateOf(one),
    one.askedFrom,
    time(one.askedAt),
    time(one.usedAt),
  ]);
  const head = [["id", "name", "state", "from", "asked", "last used"]];
  return {
    lines: rows.length === 0 ? ["No device is paired, and none is waiting."] : [...head, ...rows],
    data: devices as unknown as Json,
  };
}

function answerAbout(device: Device | null, found: (device: Device) => string, missing: string): CliAnswer {
  return device === null
    ? { lines: [missing], data: null, failed: true }
    : { lines: [found(device)], data: device as unknown as Json };
}

export const devicesCli: CliDefinition = {
  name: "devices",
  summary: "Decide which devices may use the gateway's management routes.",
  commands: [
    { name: "list", summary: "List paired devices and pending requests.", example: "list --json", run: list },
    {
      name: "approve",
      args: ["[id]"],
      summary: "Approve a device; without an id, the latest request.",
      example: "approve 7FQ2K9MX",
      run: async (call) =>
        answerAbout(
          await open(call).approve(call.args[0]),
          ({ name, id }) => `${name} (${id}) is approved.`,
          "No such device waits for approval; `devices list` shows those that do.",
        ),
    },
    {
      name: "revoke",
      args: ["<id>"],
      summary: "Revoke a device's token, or deny its request.",
      example: "revoke 7FQ2K9MX",
      run: async (call) =>
        answerAbout(
          await open(call).revoke(call.args[0] ?? ""),
          ({ name, id, approvedAt }) =>
            approvedAt === undefined
              ? `The request of ${name} (${id}) is denied.`
              : `${name} (${id}) is revoked: its token is no longer valid.`,
          "There is no device with this id; `devices list` shows them.",
        ),
    },
  ],
};
