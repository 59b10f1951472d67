/**
 * Defines the commands: names, arguments, options and help. Each implementation is in its own file, imported when it
 * runs.
 */
import { type Command, CommanderError, Option } from "commander";
import { programCommand } from "../contract/command.ts";
import { HostError, reasonOf } from "../contract/errors.ts";
import { packageVersion } from "../contract/package.ts";
import { withChannelIds } from "./channel-words.ts";
import { addControl } from "./control/commands.ts";
import {
  type Add,
  type Described,
  deliveryHeader,
  group,
  type Handle,
  indented,
  ProgramCommand,
  type Run,
  sinceForms,
  wholeNumber,
} from "./declare.ts";
import { addEvents } from "./events/commands.ts";
import { addHooks } from "./hooks/commands.ts";
import { addInit } from "./init/commands.ts";
import { addLinkCommands } from "./links/commands.ts";
import { addMessages } from "./message/commands.ts";
import { addOperations } from "./operations.ts";
import { createTerminal, type Terminal, watchReaders } from "./output/terminal.ts";
import { addPluginCommands } from "./plugins/commands.ts";
import { addService } from "./service/commands.ts";
import { addSessions } from "./sessions/commands.ts";

/** Exit codes: 0 success, 1 failure, 2 wrong usage. */
const usageExit = 2;

/** Runs one command line and resolves with its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const terminal = createTerminal(process);
  let exitCode = 0;
  const { program, addPlugins } = createProgram({ ...terminal, ...watchReaders(process) }, (code) => {
    exitCode = code;
  });
  try {
    await addPlugins(argv);
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" });
    return exitCode;
  } catch (thrown) {
    // Help and the version end here too, with exit code 0. A group without a subcommand shows help, which is wrong
    // usage.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const failure = failureOf(thrown);
    // With `--json`, failures are printed as JSON too.
    if (argv.includes("--json")) terminal.json(failure);
    else if (!(thrown instanceof CommanderError)) terminal.error(thrown);
    return failure.code === "usage" ? usageExit : 1;
  }
}

function failureOf(thrown: unknown): {
  readonly ok: false;
  readonly error: string;
  readonly code: string;
  readonly hint?: string;
} {
  if (thrown instanceof HostError) {
    const { message, code, hint } = thrown;
    return { ok: false, error: message, code, ...(hint === "" ? {} : { hint }) };
  }
  // The parser has already printed the error, or a group's help, on standard error.
  if (!(thrown instanceof CommanderError)) return { ok: false, error: `${reasonOf(thrown)}.`, code: "internal" };
  const [message = "", suggestion] = thrown.message.replace(/^error: /, "").split(/\n\((.*)\)$/);
  const usageProblem = thrown.code === "commander.help" ? "the command is missing" : message.replace(/\.$/, "");
  return {
    ok: false,
    error: `${usageProblem.charAt(0).toUpperCase()}${usageProblem.slice(1)}.`,
    code: "usage",
    hint: suggestion ?? "Run the command with --help.",
  };
}

interface Program {
  readonly program: Command;
  /** Adds the commands of plugins if the command line contains a command that is not built in, or asks for help. */
  addPlugins(argv: readonly string[]): Promise<void>;
}

/** Defines the commands; nothing runs before a command line is parsed. */
export function createProgram(terminal: Terminal & { serve?(): void }, onExit: (code: number) => void): Program {
  const program = new ProgramCommand(programCommand)
    .description("Connects webhooks and chat platforms to an AI agent.")
    .option("--config <file>", "configuration file (default: SERVICE_CONFIG, else ~/.service/config.jsonc)")
    .option("--state <directory>", "state directory (default: SERVICE_STATE_DIR, else state.dir, else ~/.service)")
    .version(`${packageVersion()} (Node ${process.versions.node})`, "-v, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .showHelpAfterError("(see --help)")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => terminal.style("bold", title), subcommandTerm })
    .configureOutput({
      outputError: (text, write) =>
        write(text.replace(/^error: (.)/, (_, first: string) => `error: ${first.toUpperCase()}`)),
    })
    .addHelpText("after", example("Try everything without an account:", `${programCommand} dev`));

  const add = (parent: Command, nameAndArguments: string, { summary, example: text, json }: Described): Command => {
    const command = parent
      .command(nameAndArguments)
      .description(summary)
      .addHelpText("after", `\nExample:\n${indented(text)}`);
    return json === true ? command.option("--json", "print data for programs") : command;
  };
  const handle =
    <A extends readonly unknown[], O>(load: () => Promise<Run<A, O>>, { looks = true, creates = false } = {}) =>
    async (...received: readonly unknown[]): Promise<void> => {
      if (!looks) terminal.serve?.();
      const command = received.at(-1) as Command;
      const options = command.optsWithGlobals() as O & { readonly config?: string; readonly state?: string };
      const [run, { createContext }] = await Promise.all([load(), import("./context.ts")]);
      const context = await withChannelIds(
        createContext({ terminal, looks, creates, config: options.config, state: options.state }),
        command,
      );
      onExit((await run(context, received.slice(0, -2) as unknown as A, options)) ?? 0);
    };

  addInit(program, add, handle);
  addRunning(program, add, handle);
  addControl(program, add, handle);
  addService(program, add, handle);
  addLooking(program, add, handle);
  addPluginCommands(program, add, handle);
  addEvents(program, add, handle);
  addOperations(program, add, handle);
  addLinkCommands(program, add, handle);
  addPairing(program, add, handle);
  addMessages(program, add, handle);
  addSessions(program, add, handle);
  addHooks(program, add, handle);
  addTransforms(program, add, handle);
  addConfig(program, add, handle);
  return {
    program,
    async addPlugins(argv) {
      const { operands, unknown } = program.parseOptions([...argv]);
      const [word] = operands;
      const forHelp = word === undefined && !unknown.some((option) => option === "-v" || option === "--version");
      if (!forHelp && (word === undefined || program.commands.some((command) => command.name() === word))) return;
      const [{ addPluginCommands }, { createContext }] = await Promise.all([
        import("./plugins/plugin-commands.ts"),
        import("./context.ts"),
      ]);
      const { config, state } = program.opts<{ readonly config?: string; readonly state?: string }>();
      // The command itself reports problems with the state.
      const context = createContext({ terminal: { ...terminal, note() {} }, looks: true, config, state });
      const added = addPluginCommands(program, { word, context, note: terminal.note }, add, handle);
      // Help must work even if the configuration cannot be read.
      await (forHelp ? added.catch(() => {}) : added);
    },
  };
}

/** Commands that start their own gateway. */
const starts = { looks: false };

/** Overrides the check for a state that is lost, damaged, outdated or replaced. */
const acceptNewState = [
  "--accept-new-state",
  "start even if the state is lost, damaged or replaced; unusable files are renamed",
] as const;

function addRunning(program: Command, add: Add, handle: Handle): void {
  add(program, "gateway", {
    summary: "Run the gateway in the foreground.",
    example: `${programCommand} gateway --config ./config.jsonc`,
  })
    .option(...acceptNewState)
    .action(handle(async () => (await import("./start/gateway.ts")).runGateway, starts));
  add(program, "dev [plugin]", {
    summary:
      "Run a gateway with the playground, the echo engine and hooks, and reload a plugin's folder after each change.",
    example:
      `${programCommand} dev\n${programCommand} dev --state /tmp/try --port 0\n${programCommand} dev ` +
      "./acme-chat --config ./config.jsonc",
  })
    .option("--port <number>", "port of the gateway; 0 picks a free port", portNumber)
    .option("--page-port <number>", "port of the playground page; 0 picks a free port", portNumber)
    .option(...acceptNewState)
    .action(handle(async () => (await import("./start/dev.ts")).runDev, starts));
  add(program, "playground", {
    summary: "Run only the emulated chat platform.",
    example: `${programCommand} playground --port 18790 --token 42:secret`,
  })
    .option("--port <number>", "port of the page and the API; 0 picks a free port (default: 18790)", portNumber)
    .option("--token <token>", "bot token: digits, a colon, a secret")
    .action(handle(async () => (await import("./start/playground.ts")).runPlayground, starts));
}

function addLooking(program: Command, add: Add, handle: Handle): void {
  add(program, "status", {
    summary: "Show the gateway, its channels and pending work.",
    example: `${programCommand} status --json`,
    json: true,
  }).action(handle(async () => (await import("./status.ts")).showStatus));
  add(program, "why [event]", {
    summary:
      "Explain what happened to an event. The default is the newest event. The first letters of an id are enough.",
    example:
      `${programCommand} why last\n${programCommand} why --chat botchat:1001\n${programCommand} why ` +
      "0mwp4yhl93 --json",
    json: true,
  })
    .option("--chat <id>", "explain the newest event of a chat, such as botchat:1001 or 1001")
    .action(handle(async () => (await import("./why/why.ts")).explainEvent));
  add(program, "usage", {
    summary:
      "Show the calls of models, their tokens and their cost, and what is used of the budgets. Failed and " +
      "stopped turns count, too.",
    example:
      `${programCommand} usage\n${programCommand} usage --by sender --days 30\n${programCommand} ` +
      "usage --since 24h --json",
    json: true,
  })
    .option("--since <time>", `only calls since this time: ${sinceForms}`, "7d")
    .option("--days <number>", "only calls of the last days, with today; takes precedence over --since", wholeNumber)
    .option("--by <key>", "group by agent, model, sender or purpose; default: by agent and model")
    .action(handle(async () => (await import("./usage/show.ts")).showUsage));
  add(program, "logs", {
    summary: "Show the log.",
    example: `${programCommand} logs --follow --level warn\n${programCommand} logs --since yesterday`,
    json: true,
  })
    .option("-f, --follow", "keep printing new lines")
    .option("-n, --lines <number>", "number of past lines (default: 100; all with --since)", wholeNumber)
    .option("--since <time>", `only lines since this time: ${sinceForms}`)
    .addOption(new Option("--level <level>", "minimum level").choices(["trace", "debug", "info", "warn", "error"]))
    .action(handle(async () => (await import("./logs.ts")).showLogs));
}

function addPairing(program: Command, add: Add, handle: Handle): void {
  const pairing = group(
    program,
    "pairing",
    "Manage who may write to the agent in direct chats.",
    `${programCommand} pairing list`,
  );
  const account = (command: Command) => command.option("--account <id>", "account, if the channel has several");
  const load = async () => await import("./pairing.ts");
  account(
    add(pairing, "list [channel]", {
      summary: "List pending requests and approved senders.",
      example: `${programCommand} pairing list\n${programCommand} pairing list botchat --json`,
      json: true,
    }),
  ).action(handle(async () => (await load()).listPairing));
  account(
    add(pairing, "approve <channel> <code>", {
      summary: "Approve a sender by the pairing code.",
      example: `${programCommand} pairing approve botchat K7Q2M9XA`,
      json: true,
    }),
  )
    .option("--owner", "make the sender an owner, who may change the configuration from the chat")
    .option("--notify", "notify the sender through the account they wrote to (default)")
    .option("--no-notify", "do not notify the sender")
    .action(handle(async () => (await load()).approvePairing));
  account(
    add(pairing, "deny <channel> <code>", {
      summary: "Reject a request and invalidate its code.",
      example: `${programCommand} pairing deny botchat K7Q2M9XA`,
      json: true,
    }),
  ).action(handle(async () => (await load()).denyPairing));
  account(
    add(pairing, "revoke <channel> <id>", {
      summary: "Revoke the approval of a sender by id.",
      example: `${programCommand} pairing revoke botchat 123456789`,
      json: true,
    }),
  ).action(handle(async () => (await load()).revokePairing));
}

function addTransforms(program: Command, add: Add, handle: Handle): void {
  const transforms = group(
    program,
    "transforms",
    "List and test transform files.",
    `${programCommand} transforms list`,
  );
  const load = async () => await import("./transforms.ts");
  add(transforms, "list", {
    summary: "List transform files, their exports, mappings and problems. Exits with 1 if a file in use has a problem.",
    example: `${programCommand} transforms list`,
    json: true,
  }).action(handle(async () => (await load()).listTransforms));
  add(transforms, "test <module> <file>", {
    summary: "Run a transform on a payload file or a recording and print its result. Nothing is queued.",
    example:
      `${programCommand} transforms test github.ts push.json --header "X-GitHub-Event: ` +
      `push"\n${programCommand} transforms test mail/invoice.ts mail.json --export paid`,
    json: true,
  })
    .option("--export <name>", "the function to call (default: the default export)")
    .option(...deliveryHeader)
    .action(handle(async () => (await load()).testTransform));
}

function addConfig(program: Command, add: Add, handle: Handle): void {
  const config = group(
    program,
    "config",
    "Read, change and check the configuration.",
    `${programCommand} config get gateway.port`,
  );
  const load = async () => await import("./config.ts");
  add(config, "get [path]", {
    summary: "Print a value in effect, including defaults. Secrets are not shown.",
    example: `${programCommand} config get channels.botchat.dmPolicy`,
    json: true,
  }).action(handle(async () => (await load()).getConfig));
  add(config, "set <path> <value>", {
    summary: "Set a value in the file and preserve comments. The value is JSON or text.",
    example:
      `${programCommand} config set gateway.port 18800\n${programCommand} config set hooks.token '{ ` +
      `"env": "HOOK_TOKEN" }'`,
    json: true,
  }).action(handle(async () => (await load()).setConfig));
  add(config, "unset <path>", {
    summary: "Remove a value from the file. Its default applies.",
    example: `${programCommand} config unset gateway.port`,
    json: true,
  }).action(handle(async () => (await load()).unsetConfig));
  add(config, "validate", {
    summary: "List every problem in the file. Exits with 1 on errors.",
    example: `${programCommand} config validate --config ./config.jsonc`,
    json: true,
  }).action(handle(async () => (await load()).validateConfig));
  add(config, "schema", {
    summary: "Print the JSON Schema of the file for editors.",
    example: `${programCommand} config schema > config.schema.json`,
  }).action(handle(async () => (await load()).printSchema));
}

/** Shows `pairing list|approve|...` in the overview, so that subcommands are visible there. */
function subcommandTerm(command: Command): string {
  const below = command.commands.map((child) => child.name()).join("|");
  const args = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [command.name(), below, ...args].filter((part) => part !== "").join(" ");
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65_535) throw new HostError("usage", { reason: `${text} is not a port: use a number from 0 to 65535` });
  return port;
}

const example = (sentence: string, command: string) => `\n${sentence}\n${indented(command)}`;
