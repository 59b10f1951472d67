/**
 * `/link`: a person says that they are one on two platforms. One chat shows a code, the other takes it, an owner
 * confirms. Conversations and budgets become one. Rights never do: each id keeps its own.
 */
import {
  type IdentityLinks,
  type LinkEnd,
  type LinkedPerson,
  type LinkRefusal,
  type LinkRequests,
  writtenId,
} from "../../access/index.ts";
import type { Address, Inbound } from "../../contract/index.ts";
import { escapeMarkdown } from "../../reply/index.ts";
import { plainName } from "../conversation/envelope.ts";
import type { BuiltInCommand } from "./commands.ts";

export interface LinkingOptions {
  readonly links: Pick<IdentityLinks, "personOf" | "people">;
  readonly requests: LinkRequests;
  isOwner(inbound: Inbound): Promise<boolean>;
  owners(at: Pick<Inbound, "channel" | "account">): Promise<readonly string[]>;
  /** Resolves with whether an owner can be reached. */
  notifyOwner(text: string, key: string): Promise<boolean>;
  /** Sends a text to a direct chat. */
  notify(address: Address, text: string): Promise<unknown>;
  /** Another person can take the id over. */
  isWeak(id: { readonly channel: string; readonly account: string; readonly id: string }): boolean | Promise<boolean>;
}

const refusals: Readonly<Record<LinkRefusal, string>> = {
  same: "That is the chat in which you asked for the code. Type it on the other platform.",
  linked_already: "These two are linked already.",
  linked_to_others: "Both are linked to others already. Write `/link remove` in one of them first.",
  configured: "The links of this person are in the configuration (`session.identityLinks`): the operator changes them.",
  full: "There are too many links. Write `/link remove` where one is no longer needed.",
};

/** What a link means, for those who confirm it. */
const meaning =
  "They will share conversations, budgets and the place of reminders: each of the two can read what the other one " +
  "wrote to me. Rights stay as they are.";

const endOf = ({ channel, account, chat, sender }: Inbound): LinkEnd => ({
  ...{ channel, id: sender.id, name: sender.name },
  address: { channel, account, chat: chat.id, thread: chat.thread },
});

/** A name is its owner's choice, so it is quoted and the id is beside it. */
function shown({ name = "", ...id }: LinkEnd): string {
  const plain = plainName(name);
  const text = escapeMarkdown(writtenId(id));
  return plain === "" ? text : `${text} ("${escapeMarkdown(plain)}")`;
}

const listed = ({ ids }: LinkedPerson): string => ids.map((id) => escapeMarkdown(writtenId(id))).join(", ");

/** What the words after the command do. */
function createLinking(options: LinkingOptions) {
  const { links, requests } = options;

  async function begin(inbound: Inbound): Promise<string> {
    const person = links.personOf(inbound);
    if (person?.configured === true) return refusals.configured;
    const code = await requests.begin(endOf(inbound));
    return [
      ...(person === undefined
        ? []
        : [`You are linked: ${listed(person)}. \`/link remove\` ends it for this chat.`, ""]),
      "To link another platform, write this to me there within ten minutes, in a direct chat:",
      "",
      `\`/link ${code}\``,
      "",
      "Then an owner confirms it. Give the code to no one: whose chat it is typed in will share your conversations.",
    ].join("\n");
  }

  const isOwnerAt = async ({ id, address }: LinkEnd): Promise<boolean> =>
    (await options.owners({ channel: address.channel, account: address.account })).includes(id);

  /** Both people read what has happened, also the one whose code was stolen. */
  async function link([one, other]: readonly [LinkEnd, LinkEnd], here: LinkEnd): Promise<string> {
    const result = await links.people.link(one, other);
    if (typeof result === "string") return refusals[result];
    const text = `${shown(one)} and ${shown(other)} are linked from now on. \`/link remove\` ends it.`;
    for (const end of [one, other])
      if (writtenId(end) !== writtenId(here)) await options.notify(end.address, text).catch(() => {});
    return text;
  }

  async function use(code: string, inbound: Inbound): Promise<string> {
    const here = endOf(inbound);
    const used = await requests.use(code, here);
    if (!used.ok)
      return used.locked
        ? "Too many wrong codes. Try again in ten minutes."
        : "I do not know this code. A code works once, for ten minutes: `/link` makes a new one.";
    const ends = [used.end, here] as const;
    if (writtenId(used.end) === writtenId(here)) return refusals.same;
    if (links.personOf(inbound)?.configured === true) return refusals.configured;
    const [isOwnerHere, isOwnerThere] = [await options.isOwner(inbound), await isOwnerAt(used.end)];
    // An owner on both sides has said so twice.
    if (isOwnerHere && isOwnerThere) return await link(ends, here);
    const { code: request, isNew, denied } = await requests.propose(ends);
    if (denied) return "An owner has denied this. Ask them, and try again tomorrow.";
    if (!isNew) return "An owner was asked to confirm this already.";
    const question =
      `${shown(used.end)} and ${shown(here)} say that they are one person. ${meaning}\n\n` +
      `If you know that it is true: \`/link confirm ${request}\`. Otherwise: \`/link deny ${request}\`.`;
    if (isOwnerHere) return question;
    const isAsked = await options.notifyOwner(question, `link:${request}`);
    await options
      .notify(used.end.address, `Your code was typed by ${shown(here)}. If that is not you, write \`/link cancel\`.`)
      .catch(() => {});
    return isAsked
      ? "An owner is asked to confirm it."
      : "No owner can be reached. On the gateway's machine, `links list` shows the request.";
  }

  async function decide(code: string, inbound: Inbound, isConfirmed: boolean): Promise<string> {
    if (!(await options.isOwner(inbound))) return "Only an owner can do that.";
    const request = await requests.take(code);
    if (request === undefined) return "There is no such request. A request is open for a day.";
    const here = endOf(inbound);
    if (isConfirmed) return await link(request.ends, here);
    await requests.deny(request);
    for (const end of request.ends)
      if (writtenId(end) !== writtenId(here)) await options.notify(end.address, "The link was denied.").catch(() => {});
    return "Denied.";
  }

  async function remove(inbound: Inbound): Promise<string> {
    const here = endOf(inbound);
    await requests.forget(here);
    const person = links.personOf(inbound);
    if (person?.configured === true) return refusals.configured;
    const before = await links.people.unlink(here);
    return before === undefined
      ? "This chat is not linked."
      : "This chat is no longer linked. Its own conversation continues here. What was written meanwhile stays with " +
          "the others.";
  }

  return { begin, use, decide, remove, cancel: (inbound: Inbound) => requests.forget(endOf(inbound)) };
}

export function linkCommand(options: LinkingOptions): BuiltInCommand {
  const linking = createLinking(options);
  return {
    name: "link",
    summary: "be one person on two platforms",
    args: "[CODE|remove]",
    role: "allowed",
    async run({ args, inbound }) {
      if (inbound.chat.kind !== "direct") return "This works in a direct chat only: a group would read the code.";
      const { channel, account, sender } = inbound;
      if (sender.isBot === true || (await options.isWeak({ channel, account, id: sender.id })))
        return "This id can become another person's, so it cannot be linked.";
      const [word = "", code = ""] = args.split(/\s+/);
      switch (word.toLowerCase()) {
        case "":
          return await linking.begin(inbound);
        case "confirm":
          return await linking.decide(code, inbound, true);
        case "deny":
          return await linking.decide(code, inbound, false);
        case "cancel":
          await linking.cancel(inbound);
          return "Codes and requests of this chat are gone.";
        case "remove":
          return await linking.remove(inbound);
        default:
          return await linking.use(word, inbound);
      }
    },
  };
}
