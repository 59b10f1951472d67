/**
 * The commands of daily operation: `channels`, `models`, `tokens`, `state copy`, `backup`,
 * `restore`, `update`, `privacy`, `doctor`.
 */
import type { Command } from "commander";
import { programCommand } from "../contract/command.ts";
import { addChannelCommands } from "./channels/commands.ts";
import { type Add, group, type Handle } from "./declare.ts";

export function addOperations(program: Command, add: Add, handle: Handle): void {
  addChannelCommands(program, add, handle);
  const models = group(program, "models", "Show and test the models of the agents.", `${programCommand} models list`);
  add(models, "list", {
    summary:
      "List the models that are configured: for whom, the size of the context, the price, whether the server " +
      "answers. Exits with 1 if a model of an agent cannot be asked.",
    example: `${programCommand} models list\n${programCommand} models list --json`,
    json: true,
  }).action(handle(async () => (await import("./models/list.ts")).listModels));
  add(models, "test [name]", {
    summary:
      "Ask a model something short, and print the time to the first word; also while no gateway is running. The " +
      "default is the model of each agent. Exits with 1 if a model does not reply.",
    example:
      `${programCommand} models test\n${programCommand} models test local/small\n${programCommand} models ` +
      "test fast --agent writer --json",
    json: true,
  })
    .option("--agent <id>", "the agent whose engine asks, and whose aliases apply; default: the first one")
    .action(handle(async () => (await import("./models/test.ts")).testModels));
  const tokens = group(
    program,
    "tokens",
    "Replace the tokens of the gateway.",
    `${programCommand} tokens rotate hooks`,
  );
  add(tokens, "rotate <which>", {
    summary:
      "Replace the token of the webhooks (hooks) or the management routes (gateway). The old token stays " +
      "valid for a while.",
    example:
      `${programCommand} tokens rotate hooks\n${programCommand} tokens rotate hooks --keep ` +
      `7d\n${programCommand} tokens rotate gateway --keep 0`,
    json: true,
  })
    .option("--keep <time>", "how long the old token stays valid, such as 30m or 7d; 0: not at all", "24h")
    .action(handle(async () => (await import("./tokens.ts")).rotateToken));
  const state = group(
    program,
    "state",
    "Copy the state to another store.",
    `${programCommand} state copy --to postgres://user@host/database`,
  );
  add(state, "copy", {
    summary:
      "Copy the whole state to an empty database or directory. All gateways must be stopped. An interrupted " +
      "copy continues.",
    example:
      `${programCommand} state copy --to postgres://user@host/database --dry-run\n${programCommand} ` +
      "state copy --to ~/.service",
    json: true,
  })
    .requiredOption(
      "--to <target>",
      "the address of a database, whose scheme is the store (state.store), or a directory for SQLite",
    )
    .option("--dry-run", "only print what would be copied")
    .action(handle(async () => (await import("./state/copy.ts")).copyStateTo));
  addBackups(program, add, handle);
  addUpdate(program, add, handle);
  const say = (line: string) => `${programCommand} privacy ${line}`;
  const privacy = group(program, "privacy", "Export or erase the stored data of a person.", say("export CHANNEL:1001"));
  add(privacy, "export <sender>", {
    summary: "Print the stored data of a person as JSON: events, conversations, messages, files, pairing, devices.",
    example: `${say("export CHANNEL:1001 > person.json")}\n${say("export 1001 --out person.json")}`,
  })
    .option("--out <file>", "write it to a new file, with mode 0600")
    .action(handle(async () => (await import("./privacy/run.ts")).exportPerson));
  add(privacy, "erase <sender>", {
    summary:
      "Erase the stored data of a person and list what remains. This cannot be undone. Exits with 1 while " +
      "events are pending.",
    example: `${say("erase CHANNEL:1001 --dry-run")}\n${say("erase CHANNEL:1001")}`,
    json: true,
  })
    .option("--dry-run", "only print what would be erased")
    .action(handle(async () => (await import("./privacy/run.ts")).erasePerson));
  add(program, "doctor", {
    summary: "Check the installation and suggest fixes. Exits with 1 if an unfixed problem remains.",
    example: `${programCommand} doctor\n${programCommand} doctor --fix --dry-run\n${programCommand} doctor --fix`,
    json: true,
  })
    .option("--fix", "fix problems that need no decision; backs up the configuration file first")
    .option("--dry-run", "only print what --fix would do")
    .action(handle(async () => (await import("./doctor/run.ts")).runDoctor));
}

function addBackups(program: Command, add: Add, handle: Handle): void {
  const say = (line: string) => `${programCommand} ${line}`;
  add(program, "backup <file>", {
    summary:
      "Write a backup to one file (tar.gz), also while a gateway runs: the database, the configuration, transforms, " +
      "workspaces and files of messages. It is read back before it gets its name, and only you can read it.",
    example: [say("backup gateway.tar.gz"), say("backup /mnt/usb/gateway.tar.gz --with-secrets --force")].join("\n"),
    json: true,
  })
    .option("--without-media", "leave out the files of messages")
    .option("--with-secrets", "contain secrets too: those of files, the gateway token, the variables of the service")
    .option("--force", "replace the file if it exists")
    .action(handle(async () => (await import("./backup/create.ts")).writeBackup));
  add(program, "restore <file>", {
    summary:
      "Restore a backup into an empty directory, by default the state directory. Nothing is written before all of " +
      "the backup has been checked.",
    example: [say("restore gateway.tar.gz --dry-run"), say("restore gateway.tar.gz --to ~/restored")].join("\n"),
    json: true,
  })
    .option("--to <directory>", "an empty directory, or one that does not exist; default: the state directory")
    .option("--dry-run", "check the backup, and only print what would be written")
    .action(handle(async () => (await import("./backup/restore.ts")).restoreFrom, { looks: false, creates: true }));
}

function addUpdate(program: Command, add: Add, handle: Handle): void {
  const say = `${programCommand} update --check`;
  add(program, "update", {
    summary:
      "Show whether a newer version exists, what changes, how to install it and how to go back. Nothing is ever " +
      "installed. Exits with 0 if this is the newest version, with 3 if a newer one exists, and with 1 if that " +
      "cannot be found out.",
    example: `${say}\n${say} --json\n${say} --registry https://npm.example.org`,
    json: true,
  })
    .option("--check", "ask the registry; the only thing that this command does")
    .option(
      "--registry <address>",
      "address of the npm registry (default: npm_config_registry, else registry in ~/.npmrc, else registry.npmjs.org)",
    )
    .action(handle(async () => (await import("./update/check.ts")).checkForUpdate, { looks: false, creates: true }));
}
