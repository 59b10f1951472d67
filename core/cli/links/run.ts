/** `links`: works on the store; a running gateway follows within two seconds. */
import { configuredPeople, createStoredPeople, type LinkRefusal, writtenId } from "../../access/links/people.ts";
import { createLinkRequests, type LinkRequests } from "../../access/links/requests.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { noticeEvent } from "../../host/notice.ts";
import { visibleLine } from "../../log/visible.ts";
import { createIds } from "../../state/ids.ts";
import type { Store } from "../../state/store.ts";
import type { CommandContext } from "../context.ts";
import { renderAgo } from "../output/times.ts";
import { parsePerson } from "../privacy/person.ts";

interface JsonOption {
  readonly json?: boolean;
}

type People = ReturnType<typeof createStoredPeople>;

async function withLinks<T>(
  context: CommandContext,
  run: (parts: {
    readonly people: People;
    readonly requests: LinkRequests;
    readonly configured: ReturnType<typeof configuredPeople>;
    readonly store: Store;
  }) => Promise<T>,
): Promise<T> {
  const { config } = await context.load();
  const configured = configuredPeople(config.session.identityLinks);
  const store = await context.openState();
  try {
    const people = createStoredPeople({ store, configured: () => configured });
    return await run({ people, requests: createLinkRequests({ store, now: context.now }), configured, store });
  } finally {
    await store.close();
  }
}

const shownId = (id: Parameters<typeof writtenId>[0]): string => visibleLine(writtenId(id), 200);

export async function listLinks(context: CommandContext, _: readonly [], { json }: JsonOption): Promise<number> {
  return await withLinks(context, async ({ people, requests, configured }) => {
    const all = [...configured, ...(await people.all())];
    const waiting = await requests.waiting();
    const { terminal, now } = context;
    if (json === true) terminal.json({ people: all, waiting });
    else {
      if (all.length === 0) terminal.line("No ids are linked. A person begins with /link in a direct chat.");
      terminal.table(
        all.map(({ name, ids, configured: isConfigured }) => [
          terminal.style("bold", isConfigured === true ? name : "by /link"),
          ids.map(shownId).join(", "),
          terminal.style("dim", isConfigured === true ? `session.identityLinks.${name}` : ""),
        ]),
      );
      for (const { code, ends, createdAt } of waiting) {
        terminal.line();
        terminal.line(
          `${ends.map(shownId).join(" and ")} say that they are one person (${renderAgo(createdAt, now())}).`,
        );
        terminal.line(`  \`${programCommand} links confirm ${code}\` or \`${programCommand} links deny ${code}\``);
      }
    }
    return 0;
  });
}

const refusals: Readonly<Record<LinkRefusal, string>> = {
  same: "both ids are the same",
  linked_already: "they are linked already",
  linked_to_others: "both are linked to others already: remove one of them first",
  configured: "session.identityLinks of the configuration names one of them",
  full: "there are too many links",
};

const unknown = (code: string) =>
  new HostError("usage", { reason: `no request has the code ${visibleLine(code, 40)}: \`links list\` shows them` });

async function tell(
  { store, context }: { readonly store: Store; readonly context: CommandContext },
  ends: readonly { readonly address: Parameters<typeof noticeEvent>[0]["address"] }[],
  text: string,
): Promise<void> {
  const newId = createIds(context.now);
  for (const { address } of ends)
    await store.accept({ id: newId(), at: context.now(), event: noticeEvent({ address, text }) });
  await (await context.gateway())?.poke();
}

export async function confirmLink(
  context: CommandContext,
  [code]: readonly [string],
  { json }: JsonOption,
): Promise<number> {
  return await withLinks(context, async ({ people, requests, store }) => {
    const request = await requests.take(code);
    if (request === undefined) throw unknown(code);
    const result = await people.link(...request.ends);
    if (typeof result === "string") throw new HostError("usage", { reason: refusals[result] });
    const ids = request.ends.map(shownId).join(" and ");
    await tell({ store, context }, request.ends, `${ids} are linked from now on. /link remove ends it.`);
    if (json === true) context.terminal.json({ linked: true, ids: result.ids });
    else context.terminal.line(`${ids} are linked.`);
    return 0;
  });
}

export async function denyLink(
  context: CommandContext,
  [code]: readonly [string],
  { json }: JsonOption,
): Promise<number> {
  return await withLinks(context, async ({ requests, store }) => {
    const request = await requests.take(code);
    if (request === undefined) throw unknown(code);
    await requests.deny(request);
    await tell({ store, context }, request.ends, "The link was denied.");
    if (json === true) context.terminal.json({ denied: true });
    else context.terminal.line("Denied.");
    return 0;
  });
}

export async function removeLink(
  context: CommandContext,
  [sender]: readonly [string],
  { json }: JsonOption,
): Promise<number> {
  const id = parsePerson(sender, (await context.load()).config);
  return await withLinks(context, async ({ people, configured }) => {
    const named = configured.find(({ ids }) => ids.some((one) => writtenId(one) === writtenId(id)));
    if (named !== undefined)
      throw new HostError("usage", {
        reason: `the configuration links it: change session.identityLinks.${named.name}`,
      });
    const removed = (await people.unlink(id)) !== undefined;
    if (json === true) context.terminal.json({ removed });
    else context.terminal.line(removed ? `${shownId(id)} is no longer linked.` : `${shownId(id)} is not linked.`);
    return removed ? 0 : 1;
  });
}
