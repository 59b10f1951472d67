/** The addresses of one account on the gateway's port, and how its channel answers them. */
import type { IncomingMessage } from "node:http";
import { cannotStore, HostError } from "../../contract/index.ts";
import { callPlugin, pluginDeadlines, routeAnswerProblem, routeProblem, unusable } from "../../host/index.ts";
import { type AnsweringRoute, type JudgeCaller, type PostedHead, refusalOf } from "../../http/index.ts";
import type { ChannelRoute, RouteAnswer } from "../../sdk/contract.ts";
import type { TimedCall } from "../../stations/index.ts";

const defaultBytes = 262_144;

/** What has happened at an address since the gateway started. */
export interface RouteReport {
  /** Below the address of the gateway. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Epoch milliseconds; absent if nothing has called it. */
  readonly lastCallAt?: number;
  /** The HTTP status of the answer to that call. */
  readonly lastStatus?: number;
}

export interface AccountRoutes {
  /** Throws a sentence if the route is not usable. A route with the same path is replaced. */
  add(route: ChannelRoute): void;
  find(path: string): AnsweringRoute | undefined;
  reports(): readonly RouteReport[];
}

export interface AccountRoutesOptions {
  readonly plugin: string;
  readonly channel: string;
  readonly account: string;
  readonly judge: JudgeCaller;
  readonly now: () => number;
  readonly timed: TimedCall;
}

interface Registered {
  readonly route: ChannelRoute;
  lastCall?: { readonly at: number; readonly status: number };
}

export const methodsOf = ({ methods = ["POST"] }: Pick<ChannelRoute, "methods">): readonly string[] => methods;
export const bytesOf = ({ maxBytes = defaultBytes }: Pick<ChannelRoute, "maxBytes">): number => maxBytes;

export function createAccountRoutes(options: AccountRoutesOptions): AccountRoutes {
  const { plugin, channel, account, judge, now, timed } = options;
  const routes = new Map<string, Registered>();

  async function call<T>(path: string, run: () => T | Promise<T>): Promise<T> {
    const asked = { plugin, doing: `route ${path} of ${channel}:${account}` };
    return await callPlugin(asked, pluginDeadlines.route, () => timed({ plugin, hook: asked.doing }, run));
  }

  function checked(path: string, answer: RouteAnswer): RouteAnswer {
    const problem = routeAnswerProblem(answer);
    if (problem !== undefined) throw unusable({ plugin, doing: `route ${path} of ${channel}:${account}` }, problem);
    return answer;
  }

  const withJudge = <Head extends PostedHead>(head: Head, raw: IncomingMessage) => ({
    ...head,
    judge: (isRight: () => boolean) => refusalOf(judge(raw, isRight)),
  });

  /** Takes note of the call, whatever becomes of it. */
  async function noted(one: Registered, answering: Promise<RouteAnswer>): Promise<RouteAnswer> {
    let status = 500;
    try {
      const answer = await answering;
      status = answer.status ?? 200;
      return answer;
    } catch (error) {
      if (isClosed(error) || cannotStore(error)) status = 503;
      if (!isClosed(error)) throw error;
      return { status, headers: { "retry-after": "5" } };
    } finally {
      one.lastCall = { at: now(), status };
    }
  }

  return {
    add(route) {
      const problem = routeProblem(route, { parts: "several" });
      if (problem !== undefined) throw new Error(`route of ${channel}:${account}: ${problem}`);
      routes.set(route.path, { route });
    },
    find(path) {
      const one = routes.get(path);
      if (one === undefined) return undefined;
      const { route } = one;
      return {
        methods: methodsOf(route),
        maxBytes: bytesOf(route),
        async refuse(head, raw) {
          const refused = await call(path, () => route.refuse?.(withJudge(head, raw)));
          return refused === undefined ? undefined : await noted(one, Promise.resolve(checked(path, refused)));
        },
        answer: (request, raw) =>
          noted(
            one,
            call(path, () => route.handler(withJudge(request, raw))).then((answer) => checked(path, answer)),
          ),
      };
    },
    reports: () =>
      [...routes.values()].map(({ route, lastCall }) => ({
        path: `/channels/${channel}/${account}/${route.path}`,
        methods: methodsOf(route),
        ...(lastCall !== undefined && { lastCallAt: lastCall.at, lastStatus: lastCall.status }),
      })),
  };
}

/** The account was closed meanwhile, so nothing was stored: the platform has to post the event again. */
function isClosed(error: unknown): boolean {
  const { cause } = (error ?? {}) as { readonly cause?: unknown };
  return [error, cause].some((one) => one instanceof HostError && one.code === "account_closed");
}
