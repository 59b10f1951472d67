/** `plugins list`: what is loaded, what it takes part in, and why something is not loaded. */
import type { GatewayDescription } from "../../gateway/gateway.ts";
import { type WorkerReport, workerDetail } from "../../host/isolated.ts";
import type { CommandContext } from "../context.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import { readDeclarations } from "./declarations.ts";

export interface Listed {
  readonly id: string;
  readonly version?: string;
  readonly bundled: boolean;
  readonly state: string;
  readonly reason?: string;
  readonly hint?: string;
  /** Sections that it declares and has not asked for. */
  readonly unread?: readonly string[];
  readonly isolation?: "worker";
  readonly worker?: WorkerReport;
  /** The stations it taps and its routes; known only if a gateway is running. */
  readonly taps?: readonly string[];
  readonly routes?: readonly string[];
}

const marks: Readonly<Record<string, readonly [mark: string, style: Style]>> = {
  up: ["✓", "green"],
  ready: ["✓", "green"],
  off: ["·", "dim"],
  failed: ["✗", "red"],
};

export async function listPlugins(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  const description = (await (await context.gateway())?.describe()) as GatewayDescription | null | undefined;
  const running = description !== null && description !== undefined;
  const plugins = running ? fromGateway(description) : await fromFiles(context);
  if (options.json === true) context.terminal.json({ running, plugins });
  else {
    showPlugins(plugins, context.terminal);
    if (!running) context.terminal.line(context.terminal.style("dim", notRunning));
  }
  return 0;
}

export function fromGateway({ plugins, taps, routes }: GatewayDescription): readonly Listed[] {
  // Failed plugins come first in the data because they are known first; users expect the bundled ones above their own.
  return plugins
    .toSorted((a, b) => Number(b.bundled) - Number(a.bundled))
    .map((plugin) => ({
      ...plugin,
      taps: taps
        .filter((tap) => tap.plugin === plugin.id)
        .map((tap) => (tap.order === "normal" ? tap.hook : `${tap.hook} (${tap.order})`)),
      routes: routes
        .filter((route) => route.plugin === plugin.id)
        .map(({ method, path, access }) => `${method} ${path} (${access})`),
    }));
}

async function fromFiles(context: CommandContext): Promise<readonly Listed[]> {
  const declared = await readDeclarations(await context.load(), await context.stateDirectory(), context.terminal);
  return declared.map(({ definition: _, ...listed }) => listed);
}

const notRunning =
  "\nNo gateway is running; this is what a gateway would load. Hooks and routes are known only while it runs.";

export function showPlugins(plugins: readonly Listed[], terminal: Terminal): void {
  const { style } = terminal;
  terminal.table(
    plugins.map(({ id, version = "", bundled, state, reason = "", isolation, worker }) => {
      const [mark, colour] = marks[state] ?? ["?", "yellow"];
      const how =
        isolation === undefined ? reason : `in a worker${worker?.state === "restarting" ? ", starting again" : ""}`;
      return [
        style(colour, mark),
        style("bold", id),
        version,
        bundled ? "bundled" : "yours",
        style(colour, state),
        style("dim", how),
      ];
    }),
  );
  for (const { id, hint, worker, taps = [], routes = [] } of plugins) {
    const ended = worker && workerDetail(worker);
    const lines = [
      ...(hint === undefined ? [] : [hint]),
      ...(ended === undefined ? [] : [ended]),
      ...taps.map((tap) => `takes part in ${tap}`),
      ...routes,
    ];
    if (lines.length === 0) continue;
    terminal.line();
    terminal.line(style("bold", id));
    for (const line of lines) terminal.line(`  ${line}`);
  }
}
