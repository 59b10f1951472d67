/** Everything that runs once there is something to run. Loaded with the first schedule or reminder. */
import type { PluginHost } from "service-gateway/sdk";
import { type Agenda, createAgenda } from "./agenda.ts";
import { createReminders, type Reminders } from "./reminders.ts";
import { createOperations, type Operations } from "./routes.ts";
import type { schedulesSchema } from "./section.ts";

export { remindersCommand } from "./reminders-command.ts";
export { watchedOf } from "./view.ts";

type Section = Pick<ReturnType<PluginHost<typeof schedulesSchema>["section"]>, "settings" | "names">;

export interface Engine {
  readonly agenda: Agenda;
  readonly reminders: Reminders;
  readonly operations: Operations;
}

export async function startEngine(host: PluginHost, { settings, names }: Section): Promise<Engine> {
  const agenda = createAgenda({ host, section: settings, names });
  await agenda.refresh();
  return {
    agenda,
    reminders: createReminders({ host, agenda }),
    operations: createOperations({ agenda, now: host.now, newId: host.newId }),
  };
}
