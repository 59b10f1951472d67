/** What the console shows of each server: the same as the commands print. */
import type { PluginHost } from "service-gateway/sdk";
import { plain } from "../fault.ts";
import type { Doubt } from "../fingerprints.ts";
import type { ServerView } from "../view.ts";

type Entry = Awaited<ReturnType<Parameters<PluginHost["panel"]>[0]["entries"]>>[number];

const tones = {
  starting: "quiet",
  ready: "good",
  closed: "quiet",
  waiting: "warn",
  down: "bad",
  misconfigured: "bad",
} as const satisfies Readonly<Record<ServerView["state"], Entry["state"]["tone"]>>;

const words: Readonly<Record<Doubt, string>> = {
  changed: "changed since they were accepted",
  new: "new",
  unknown: "not known to be accepted",
};

/** Everything that an operator accepts: what the model reads of each tool in doubt. */
function doubtsIn({ tools }: ServerView): string {
  return tools
    .flatMap(({ name, doubt, now }) =>
      doubt === undefined || now === undefined
        ? []
        : [`${name} (${words[doubt]})\n${now.description}\nParameters: ${now.parameters}`],
    )
    .join("\n\n");
}

function waitsFor({ name, state, reason, tools }: ServerView): string | undefined {
  if (state === "down") return `The MCP server ${name} is given up: ${reason}`;
  const doubted = tools.filter(({ doubt }) => doubt !== undefined).length;
  if (doubted === 0) return undefined;
  const what = doubted === 1 ? "A tool" : `${doubted} tools`;
  return `${what} of the MCP server ${name} must be accepted. Until then, an owner is asked before each call.`;
}

function entryOf(view: ServerView): Entry {
  const { name, path, agents, place, state, reason, fix, server, tools, listing } = view;
  const offered = tools.filter((tool) => tool.offered).length;
  const waits = waitsFor(view);
  const text = doubtsIn(view);
  const facts = {
    runs: place,
    server,
    agents: agents.join(", "),
    offers: `${offered} of ${tools.length} tools`,
    reason,
    fix,
  };
  return {
    id: path,
    title: name,
    state: { word: state, tone: tones[state] },
    facts: Object.fromEntries(Object.entries(facts).filter((fact): fact is [string, string] => (fact[1] ?? "") !== "")),
    ...(text !== "" && { text }),
    ...(waits !== undefined && { waits }),
    version: listing,
    acts: [...(text === "" ? [] : ["accept"]), ...(state === "misconfigured" ? [] : ["restart"])],
  };
}

export const entriesOf = (views: readonly ServerView[]): readonly Entry[] => views.map(entryOf);

/** Names of tools, each once. */
export const namesOf = (tools: readonly string[]): string => [...new Set(tools.map(plain))].join(", ");
