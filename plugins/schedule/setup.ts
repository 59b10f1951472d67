/** Connects the plugin to its host. Nothing is loaded, and no timer runs, before there is a schedule or a reminder. */
import type { PluginHost } from "service-gateway/sdk";
import type { Engine } from "./engine.ts";
import { schedulesPanel } from "./panel.ts";
import type { schedulesSchema } from "./section.ts";

const reminderPrefix = "reminder:";
const schedulePrefix = "schedule:";

export function setUpSchedules(host: PluginHost<typeof schedulesSchema>): void {
  const section = host.section("schedules");
  const load = () => import("./engine.ts");
  let starting: Promise<Engine> | undefined;
  let running: { readonly engine: Engine; readonly watched: typeof import("./engine.ts")["watchedOf"] } | undefined;
  let isClosed = false;

  function engine(): Promise<Engine> {
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  async function start(): Promise<Engine> {
    const { startEngine, watchedOf } = await load();
    const started = await startEngine(host, section);
    running = { engine: started, watched: watchedOf };
    if (isClosed) started.agenda.close();
    return started;
  }

  const isConfigured = () => Object.keys(section.settings() ?? {}).length > 0;
  async function isNeeded(): Promise<boolean> {
    // Another gateway may store a reminder at any time.
    if (isConfigured() || (await host.sharesStore())) return true;
    // What is kept of a schedule that was removed while no gateway ran is removed too: it would look like missed runs
    // when it comes back.
    for (const prefix of [reminderPrefix, schedulePrefix])
      if ((await host.store.list({ prefix, limit: 1 })).length > 0) return true;
    return false;
  }

  section.onChange(() => {
    if (starting === undefined && !isConfigured()) return;
    void engine()
      .then(({ agenda }) => agenda.refresh())
      .catch((error: unknown) =>
        host.log.error({ error: String(error) }, "the schedules could not follow the configuration"),
      );
  });
  host.tap("ingress", (event) =>
    event.source === host.id
      ? import("./event.ts").then(({ readRun }) => readRun(event, host, section.settings()))
      : undefined,
  );
  host.command({
    name: "reminders",
    summary: "Lists the reminders of this chat, or cancels one.",
    args: "[cancel ID]",
    role: "allowed",
    control: true,
    run: async (call) => (await load()).remindersCommand(call, (await engine()).reminders),
  });
  host.command({
    name: "timezone",
    summary: "Shows or sets your time zone, for reminders.",
    args: "[ZONE]",
    role: "allowed",
    control: true,
    run: async (call) => (await import("./timezone-command.ts")).timezoneCommand(call, host),
  });
  host.toolSource({
    id: "reminders",
    offer: async (turn) =>
      (await import("./tools.ts")).offerTools(turn, { host, reminders: async () => (await engine()).reminders }),
  });
  const nameIn = (body: unknown) => String((body as { readonly name?: unknown } | null)?.name ?? "");
  host.route({
    method: "GET",
    path: "plans",
    access: "gateway",
    handler: async () => (await engine()).operations.list(),
  });
  host.route({
    method: "POST",
    path: "run",
    access: "gateway",
    handler: async ({ body }) => (await engine()).operations.run(nameIn(body)),
  });
  host.route({
    method: "POST",
    path: "pause",
    access: "gateway",
    handler: async ({ body }) => (await engine()).operations.pause(nameIn(body), true),
  });
  host.route({
    method: "POST",
    path: "resume",
    access: "gateway",
    handler: async ({ body }) => (await engine()).operations.pause(nameIn(body), false),
  });
  host.panel(schedulesPanel(async () => ((await isNeeded()) ? await engine() : undefined)));
  host.status(() => (running === undefined ? [] : running.watched(running.engine.agenda)));
  host.onReady(async () => {
    if (await isNeeded()) await engine();
  });
  host.onClose(() => {
    isClosed = true;
    running?.engine.agenda.close();
  });
}
