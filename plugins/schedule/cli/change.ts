/** `schedules run`, `schedules pause` and `schedules resume`. */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import { type StoredPlan, schedulePrefix } from "../plan.ts";

const failed = (line: string): CliAnswer => ({ lines: [line], data: null, failed: true });

export async function runPlan(call: CliCall): Promise<CliAnswer> {
  const [name = ""] = call.args;
  const gateway = await call.gateway();
  if (gateway === undefined) return failed(`No gateway is running: start it with \`${call.program} gateway\`.`);
  const answer = (await gateway.call("POST", "run", { name })) as { readonly eventId: string; readonly title: string };
  return {
    lines: [`The ${answer.title} runs now: \`${call.program} why ${answer.eventId}\` shows how it goes.`],
    data: answer as unknown as Json,
  };
}

export async function pausePlan(call: CliCall, paused: boolean): Promise<CliAnswer> {
  const [name = ""] = call.args;
  const gateway = await call.gateway();
  const word = paused ? "paused" : "resumed";
  if (gateway !== undefined) {
    const answer = (await gateway.call("POST", paused ? "pause" : "resume", { name })) as { readonly title: string };
    return { lines: [`The ${answer.title} is ${word}.`], data: answer as unknown as Json };
  }
  // Without a gateway there is nothing that could be due meanwhile: what is missed is decided at the next start.
  const keys = [`${schedulePrefix}${name}`, `reminder:${name.toUpperCase()}`];
  for (const key of keys) {
    if ((await call.store.get(key)) === null) continue;
    await call.store.update(key, (value) => {
      const { paused: _, ...stored } = value as unknown as StoredPlan;
      return { ...stored, ...(paused && { paused: true }) } as unknown as Json;
    });
    return { lines: [`${name} is ${word}.`], data: { ok: true, name, paused } };
  }
  return failed(`There is no schedule or reminder ${name}, or no gateway has run since it was configured.`);
}
