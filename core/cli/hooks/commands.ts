/** The commands of `hooks`: list webhooks, inspect their deliveries, and test them. */
import type { Command } from "commander";
import { programCommand } from "../../contract/command.ts";
import { type Add, deliveryHeader, group, type Handle, sinceForms, wholeNumber } from "../declare.ts";

const say = (line: string): string => `${programCommand} hooks ${line}`;

export function addHooks(program: Command, add: Add, handle: Handle): void {
  const hooks = group(program, "hooks", "List webhooks and deliveries, and test mappings.", say("deliveries --failed"));
  add(hooks, "list", {
    summary: "List endpoints, mappings and presets in matching order, with their problems.",
    example: say("list"),
    json: true,
  }).action(handle(async () => (await import("./list.ts")).listHooks));
  add(hooks, "deliveries", {
    summary: "List deliveries and their outcomes, newest first.",
    example: `${say("deliveries")}\n${say("deliveries --failed --limit 50")}`,
    json: true,
  })
    .option("--failed", "only rejected or failed deliveries")
    .option("-n, --limit <number>", "how many, at most 1000", wholeNumber, 20)
    .action(handle(async () => (await import("./deliveries.ts")).listDeliveries));
  add(hooks, "challenges", {
    summary:
      "Show the values that platforms sent when they tested an address, such as a verification token, for an hour.",
    example: say("challenges"),
    json: true,
  }).action(handle(async () => (await import("./deliveries.ts")).listChallenges));
  add(hooks, "show <delivery>", {
    summary:
      "Show the request, decisions and outcome of a delivery. Pass the first letters of its id, or last for " +
      "the newest.",
    example: `${say("show last")}\n${say("show 0mwp4yhl93 --json")}`,
    json: true,
  }).action(handle(async () => (await import("./show.ts")).showDelivery));
  add(hooks, "replay [delivery]", {
    summary:
      "Run a delivery again unchanged, or all failed ones. A delivery that never ran goes through its current mapping.",
    example: `${say("replay 0mwp4yhl93")}\n${say("replay last --remap")}\n${say("replay --failed --since 2h")}`,
    json: true,
  })
    .option("--failed", "all deliveries that failed, in place of one")
    .option("--code <code>", "with --failed: only those that failed for this reason, such as model_unreachable")
    .option("--since <time>", `with --failed: only those since this time: ${sinceForms}`)
    .option("--yes", "with --failed: do not ask")
    .option("--dry-run", "with --failed: only say how many there are")
    .option("--remap", "apply the current mapping even if the delivery ran; requires a running gateway")
    .action(handle(async () => (await import("./replay.ts")).replayDelivery));
  add(hooks, "test <name> <file>", {
    summary: "Show what a delivery would do, using a payload file or a recording. Nothing is queued.",
    example: `${say("test github push.json")}\n${say('test github push.json --header "X-GitHub-Event: push" --json')}`,
    json: true,
  })
    .option(...deliveryHeader)
    .action(handle(async () => (await import("./test.ts")).testDelivery));
  add(hooks, "send <name> <file>", {
    summary: "Send a delivery to the running gateway with the hook token or a signature. The delivery is executed.",
    example: `${say("send github push.json --sign")}\n${say(
      'send github push.json --sign --header "X-GitHub-Event: push" ' + "--json",
    )}`,
    json: true,
  })
    .option("--sign", "sign with the secret and the scheme of the mapping")
    .option(...deliveryHeader)
    .action(handle(async () => (await import("./send.ts")).sendDelivery));
  add(hooks, "record <name>", {
    summary: "Wait for the next delivery to a name and save it to a file without secrets. Requires a running gateway.",
    example: `${say("record github --out push.json")}\n${say("test github push.json")}`,
    json: true,
  })
    .option("--out <file>", "where to save it (default: NAME.json here)")
    .option("--timeout <seconds>", "how long to wait", wholeNumber, 600)
    .action(handle(async () => (await import("./record.ts")).recordDelivery));
}
