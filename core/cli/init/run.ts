/** `init`: from nothing to a bot that answers. It asks, tries each answer, and writes what works. */
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import { createQuestions } from "../output/questions.ts";
import { offerBoot } from "./boot.ts";
import { setUpBot } from "./bot.ts";
import { setUpModel } from "./model.ts";
import { findOwner, wantOwner } from "./owner.ts";
import { wantPort } from "./port.ts";
import { createSetup, type InitOptions, type Setup } from "./setup.ts";
import { signIn } from "./sign-in.ts";
import { offerWebhooks, wantWebhooks } from "./webhook.ts";
import { writeWanted } from "./write.ts";

/** As shells report a command that Ctrl+C ended. */
const interruptedExit = 130;

export async function runInit(context: CommandContext, _: readonly [], options: InitOptions): Promise<number> {
  const isAsked = options.yes !== true && options.json !== true;
  if (isAsked && !(process.stdin.isTTY && process.stderr.isTTY))
    throw new HostError("usage", { reason: "there is no terminal to ask at: add --yes, and the answers as options" });
  if (options.json === true && options.yes !== true)
    throw new HostError("usage", { reason: "--json asks nothing, so it needs --yes" });
  const setup = await createSetup(context, options, isAsked ? createQuestions(process) : undefined);
  const stopped = Promise.withResolvers<never>();
  let isStopped = false;
  const onSignal = () => {
    if (isStopped) process.exit(interruptedExit);
    isStopped = true;
    stopped.reject(new HostError("interrupted"));
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    return await Promise.race([steps(setup), stopped.promise]);
  } catch (error) {
    if (!(error instanceof HostError && error.code === "interrupted")) throw error;
    const stays = setup.hasWritten() ? "What was written stays" : "Nothing was written";
    context.terminal.note("");
    setup.say(`Interrupted. ${stays}; \`${programCommand} init\` goes on from there.`, { sign: "note" });
    await setup.cleanup.disposeAsync();
    // Open requests and questions would keep the process alive.
    process.exit(interruptedExit);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await setup.cleanup.disposeAsync();
  }
}

async function steps(setup: Setup): Promise<number> {
  const { context, options, ask } = setup;
  if (ask !== undefined) {
    setup.title("Your bot, your model, and you: three questions, and each answer is tried at once.");
    setup.say("Nothing is written before the first two are answered. Ctrl+C ends it at any time.");
  }
  await setUpBot(setup);
  await setUpModel(setup);
  wantOwner(setup);
  if (options.webhook === true) wantWebhooks(setup);
  requireSomething(setup);
  await wantPort(setup);
  if (!(await writeWanted(setup))) return 1;
  await signIn(setup);
  await findOwner(setup);
  await offerWebhooks(setup);
  const isService = await offerBoot(setup);
  if (options.json === true) context.terminal.json({ ok: true, file: context.configFile.file, ...setup.result });
  else showNext(setup, isService);
  return 0;
}

/** Without an answer there is nothing to write, so the command has not succeeded. */
function requireSomething({ wanted, loaded, ask, result }: Setup): void {
  if (wanted().length > 0 || loaded.found || Object.keys(result).length > 0) return;
  if (ask !== undefined)
    throw new HostError("init_unfinished", { reason: "Every question was skipped", fix: "Nothing was written." });
  throw new HostError("usage", { reason: "nothing to set up: add --token-file, --model or --webhook" });
}

function showNext(setup: Setup, isService: boolean): void {
  const { terminal } = setup.context;
  const next: readonly (readonly [string, string])[] = [
    isService
      ? [`${programCommand} service status`, "shows the service"]
      : [`${programCommand} gateway`, "runs the gateway in this terminal"],
    [`${programCommand} status`, "shows what it does"],
    [`${programCommand} console`, "shows it in a browser, with why each message was answered or not"],
    [`${programCommand} why last`, "explains what happened to the newest message"],
  ];
  setup.title("Next");
  terminal.table(
    next.map(([command, what]) => [terminal.style("cyan", command), what]),
    { indent: "  " },
  );
}
