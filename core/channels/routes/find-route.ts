/** Finds what answers at an address below `/channels/`: an account, or the one that a shared address leads to. */
import { type CalledChannel, callPlugin, pluginDeadlines } from "../../host/index.ts";
import type { AnsweringRoute, PostedRequest } from "../../http/index.ts";
import type { OpenAccount } from "../open-account.ts";
import type { OpenAccounts } from "../open-accounts.ts";
import { bytesOf, methodsOf } from "./account-routes.ts";

/** `rest`: what follows the channel in the path, decoded. */
export type FindRoute = (channel: string, rest: string) => AnsweringRoute | undefined;

export function createFindRoute({
  open,
  definitionOf,
}: {
  readonly open: Pick<OpenAccounts, "all" | "find">;
  readonly definitionOf: (channel: string) => CalledChannel | undefined;
}): FindRoute {
  return (channel, rest) => {
    const slash = rest.indexOf("/");
    if (slash > 0) return open.find(channel, rest.slice(0, slash))?.routes.find(rest.slice(slash + 1));
    const shared = definitionOf(channel)?.route;
    if (shared?.path !== rest) return undefined;
    return {
      methods: methodsOf(shared),
      maxBytes: bytesOf(shared),
      refuse: async () => undefined,
      async answer(request, raw) {
        const accounts = open.all().filter(({ live }) => live.channel === channel);
        const id = await accountOf(shared, request, accounts);
        const route = id === undefined ? undefined : open.find(channel, id)?.routes.find(shared.path);
        if (route === undefined) return { status: 404 };
        return (await route.refuse(request, raw)) ?? (await route.answer(request, raw));
      },
    };
  };
}

/** The request is not judged yet, so an error that it causes means only that it is for no account. */
async function accountOf(
  { accountOf: ask }: NonNullable<CalledChannel["route"]>,
  request: PostedRequest,
  accounts: readonly OpenAccount[],
): Promise<string | undefined> {
  const [first] = accounts;
  if (first === undefined) return undefined;
  const asked = { plugin: first.live.plugin, doing: `accountOf of ${first.live.channel}` };
  const known = accounts.map(({ live, options }) => ({ id: live.id, options: options as never }));
  try {
    const id: unknown = await callPlugin(asked, pluginDeadlines.compute, () => ask(request, known));
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
