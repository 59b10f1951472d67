/** `hooks record`: waits for the next delivery to a name, and saves it as a file without secrets. */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { programCommand } from "../../contract/command.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { visibleJson } from "../../log/visible.ts";
import { trimSlashes } from "../../webhooks/mapping/address.ts";
import { reservedPaths } from "../../webhooks/mapping/check-mapping.ts";
import type { Fixture } from "../../webhooks/mapping/fixture.ts";
import type { CommandContext } from "../context.ts";
import { renderDuration } from "../output/times.ts";
import type { RunningGateway } from "../running-gateway.ts";
import { noteSimilar } from "./similar.ts";

interface Options {
  readonly out?: string;
  readonly timeout: number;
  readonly json?: boolean;
}

interface Recorded {
  readonly fixture: Fixture;
  /** Number of values removed because they look like secrets. */
  readonly removed: number;
}

export async function recordDelivery(
  context: CommandContext,
  [given]: readonly [string],
  options: Options,
): Promise<number> {
  const name = trimSlashes(given);
  if (name === "") throw new HostError("usage", { reason: "a delivery has a name, as in /hooks/NAME" });
  if (reservedPaths.has(name))
    throw new HostError("usage", {
      reason: `${name} is an endpoint of its own, and mappings do not receive its requests`,
    });
  const file = resolve(options.out ?? `${name.replace(/[^\w.-]+/g, "-").replace(/^\.+/, "")}.json`);
  // Reported before waiting, not after. A file that was named explicitly is overwritten.
  if (options.out === undefined && existsSync(file)) throw new HostError("fixture_exists", { file });
  const gateway = await context.gateway();
  if (gateway === null) throw new HostError("gateway_not_running", { directory: await context.stateDirectory() });
  noteSimilar(context, (await context.load()).config, name);
  const { fixture, removed } = await waitFor(gateway, name, { context, seconds: options.timeout });
  // Payloads may be private, and the removal of secrets cannot recognize all of them.
  writeFileSync(file, `${visibleJson(fixture, 2)}\n`, { mode: 0o600 });
  if (options.json === true) context.terminal.json({ file, removed, path: fixture.path });
  else {
    const secrets =
      removed === 0
        ? "nothing in it looked like a secret"
        : `${removed} ${removed === 1 ? "value" : "values"} that looked like secrets removed`;
    context.terminal.line(`Saved ${file}; ${secrets}. Read it before you share it.`);
    context.terminal.line(context.terminal.style("dim", `${programCommand} hooks test ${name} ${file}`));
  }
  return 0;
}

async function waitFor(
  gateway: RunningGateway,
  name: string,
  { context, seconds }: { readonly context: CommandContext; readonly seconds: number },
): Promise<Recorded> {
  const interrupted = new AbortController();
  const late = AbortSignal.timeout(seconds * 1_000);
  const interrupt = () => interrupted.abort();
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  const progress = showProgress(context, name);
  const ended = (reason: string, fix: string) => new HostError("recording_ended", { reason, fix });
  try {
    const path = `/gateway/hooks/record?${new URLSearchParams({ path: name })}`;
    for await (const event of gateway.events(path, AbortSignal.any([interrupted.signal, late]))) {
      if (isRecorded(event)) return event;
      progress.begin();
    }
    throw ended("the gateway stopped", "Start it again, then record.");
  } catch (error) {
    if (interrupted.signal.aborted) throw ended("it was interrupted", "Run it again when a delivery is expected.");
    if (late.aborted)
      throw ended(
        `no delivery arrived at ${name} within ${renderDuration(seconds * 1_000)}`,
        "Check the address that the sender calls, or raise --timeout.",
      );
    if (error instanceof HostError) throw error;
    throw new HostError("gateway_silent", { url: gateway.url, reason: reasonOf(error) });
  } finally {
    progress.end();
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
  }
}

function isRecorded(event: unknown): event is Recorded {
  return typeof event === "object" && event !== null && "fixture" in event;
}

/** Shows a line for people; on a terminal it counts the seconds. */
function showProgress({ terminal, now }: CommandContext, name: string): { begin(): void; end(): void } {
  const began = now();
  let timer: NodeJS.Timeout | undefined;
  const { stderr } = process;
  return {
    begin() {
      const line = `Waiting for the next delivery to ${name} (Ctrl-C ends)`;
      if (!stderr.isTTY) {
        terminal.note(`${line} ...`);
        return;
      }
      const draw = () =>
        stderr.write(`\r\u001B[K${line} ... ${renderDuration(Math.floor((now() - began) / 1_000) * 1_000)}`);
      draw();
      timer = setInterval(draw, 1_000);
    },
    end() {
      if (timer === undefined) return;
      clearInterval(timer);
      stderr.write("\r\u001B[K");
    },
  };
}
