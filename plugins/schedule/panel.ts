/** Schedules and reminders in the console: what `schedules list` prints, and the acts of the commands as buttons. */
import type { PluginHost, RouteAnswer } from "service-gateway/sdk";
import type { Engine } from "./engine.ts";

type Panel = Parameters<PluginHost["panel"]>[0];
const nameIn = (id: string): string => id.slice(id.indexOf(":") + 1);

function outcomeOf({ status = 200, body }: RouteAnswer, done: (title: string) => string) {
  const { title, error } = (body ?? {}) as { readonly title?: string; readonly error?: string };
  return status < 400 ? { ok: true, text: done(title ?? "") } : { ok: false, text: error ?? "It was refused." };
}

/** `engine`: starts what runs the plans if there is one, else `undefined`. */
export function schedulesPanel(engine: () => Promise<Engine | undefined>): Panel {
  const operate = async (
    work: (operations: Engine["operations"]) => Promise<RouteAnswer>,
    done: (title: string) => string,
  ) => {
    const running = await engine();
    if (running === undefined) return { ok: false, text: "There are no schedules and no reminders any more." };
    return outcomeOf(await work(running.operations), done);
  };
  return {
    id: "schedules",
    title: "Schedules and reminders",
    empty:
      "There are no schedules and no reminders. Schedules are set in schedules; people ask the agent for reminders.",
    async entries() {
      const running = await engine();
      return running === undefined ? [] : (await import("./panel-entries.ts")).entriesOf(running.agenda);
    },
    acts: {
      run: {
        label: "Run now",
        role: "operate",
        run: ({ id }) =>
          operate(
            (operations) => operations.run(nameIn(id)),
            (title) => `The ${title} runs now.`,
          ),
      },
      pause: {
        label: "Pause",
        role: "operate",
        run: ({ id }) =>
          operate(
            (operations) => operations.pause(nameIn(id), true),
            (title) => `The ${title} is paused.`,
          ),
      },
      resume: {
        label: "Resume",
        role: "operate",
        run: ({ id }) =>
          operate(
            (operations) => operations.pause(nameIn(id), false),
            (title) => `The ${title} is resumed.`,
          ),
      },
      cancel: {
        label: "Cancel",
        role: "admin",
        confirm: "The reminder is removed for good. Cancel it?",
        run: ({ id }) =>
          operate(
            (operations) => operations.cancel(nameIn(id)),
            (title) => `The ${title} is cancelled.`,
          ),
      },
    },
  };
}
