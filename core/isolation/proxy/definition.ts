/** The definition of a channel in a worker, as the core calls it. */
import { type CalledChannel, callPlugin, pluginDeadlines } from "../../host/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import type { ChannelData, ChannelFunction } from "../declaration.ts";
import type { Supervisor } from "../supervisor.ts";

/** How many answers are remembered. The ids of large configurations, with room for those of events. */
const mostAnswers = 10_000;

/**
 * The functions are pure, so while the worker starts again, what they answered before still applies: a change of the
 * configuration waits for a worker only where it brings something new.
 */
export function defineChannel(
  data: ChannelData,
  supervisor: () => Supervisor,
  open: CalledChannel["open"],
): CalledChannel {
  const { capabilities, functions, identity, route, ...rest } = data;
  const answers = new Map<string, unknown>();

  async function ask<T>(name: ChannelFunction, args: readonly unknown[]): Promise<T> {
    const key = JSON.stringify([name, ...args]);
    const { isUp, askWhenUp, plugin } = supervisor();
    if (!isUp() && answers.has(key)) return answers.get(key) as T;
    const asked = { plugin, doing: `${name} of ${data.id}` };
    const givenUp = new AbortController();
    const how = { repeat: true, signal: givenUp.signal };
    const call = () => askWhenUp<T>(`channel.${name}`, [data.id, ...args], how);
    const answer = await callPlugin(asked, pluginDeadlines.compute, call).finally(() => givenUp.abort());
    answers.delete(key);
    answers.set(key, answer);
    if (answers.size > mostAnswers) answers.delete(answers.keys().next().value ?? key);
    return answer;
  }

  const has = (name: ChannelFunction) => functions.includes(name);
  return {
    ...rest,
    capabilities: capabilities ?? ((options: never) => ask<ChannelCapabilities>("capabilities", [options])),
    // Its answers are not remembered: no request comes twice.
    ...(route !== undefined && {
      route: {
        ...route,
        accountOf: (...args: readonly unknown[]) =>
          supervisor().askWhenUp<string | undefined>("channel.accountOf", [data.id, ...args]),
      },
    }),
    ...((identity !== undefined || has("fold") || has("weak")) && {
      identity: {
        ...identity,
        ...(has("fold") && { fold: (id: string) => ask<string>("fold", [id]) }),
        ...(has("weak") && { weak: (id: string) => ask<boolean>("weak", [id]) }),
      },
    }),
    ...(has("check") && { check: (options: never, around: never) => ask("check", [options, around]) }),
    ...(has("signsInAs") && { signsInAs: (options: never) => ask("signsInAs", [options]) }),
    open,
  };
}
