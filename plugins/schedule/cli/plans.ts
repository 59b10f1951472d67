/**
 * Reads the plans for the command line: from the running gateway, or from the configuration and the store if there is
 * none.
 */
import type { CliCall, Json } from "service-gateway/sdk";
import { type Agenda, createAgenda } from "../agenda.ts";
import type { schedulesSchema } from "../section.ts";
import { type PlanView, viewsOf } from "../view.ts";

const notHere = () => Promise.reject(new Error("no gateway is running"));

/** An agenda that nothing runs from. */
async function stoppedAgenda(call: CliCall): Promise<Agenda> {
  const section = (await call.section<typeof schedulesSchema>("schedules")).settings();
  const host = {
    // Only a gateway decides what is due.
    store: {
      ...call.store,
      set: notHere,
      delete: async () => false,
      update: async (key: string) => await call.store.get(key),
    },
    ...{
      receive: notHere,
      notify: notHere,
      hookResult: async () => undefined,
      notifyOwner: async () => false,
      takeDuty: async () => false,
    },
    sharesStore: async () => false,
    timezone: async () => await call.timezone(),
    log: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    now: call.now,
  };
  const agenda = createAgenda({ host, section: () => section });
  await agenda.refresh();
  agenda.close();
  return agenda;
}

export interface Found {
  readonly isRunning: boolean;
  readonly plans: readonly PlanView[];
}

export async function readPlans(call: CliCall): Promise<Found> {
  const gateway = await call.gateway();
  if (gateway === undefined) return { isRunning: false, plans: viewsOf(await stoppedAgenda(call)) };
  const { plans } = (await gateway.call("GET", "plans")) as unknown as { readonly plans: readonly PlanView[] };
  return { isRunning: true, plans };
}

export const planNamed = (plans: readonly PlanView[], name: string): PlanView | undefined =>
  plans.find((plan) => plan.type === "schedule" && plan.name === name) ??
  plans.find((plan) => plan.name === name.toUpperCase());

export const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
