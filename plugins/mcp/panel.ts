/** The servers in the console: what the commands print, and their acts as buttons. */
import type { PluginHost } from "service-gateway/sdk";
import { plain } from "./fault.ts";
import type { Doubt } from "./fingerprints.ts";
import type { Serving } from "./serving.ts";
import type { ServerView } from "./view.ts";

type Panel = Parameters<PluginHost["panel"]>[0];
type Entry = Awaited<ReturnType<Panel["entries"]>>[number];

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
  return `${doubted === 1 ? "A tool" : `${doubted} tools`} of the MCP server ${name} must be accepted. Until then, an owner is asked before each call.`;
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

const gone = { ok: false, text: "The server is not configured any more." };

export function mcpPanel(serving: () => Serving | undefined): Panel {
  const nameOf = (path: string) =>
    serving()
      ?.views()
      .find((view) => view.path === path)?.name;
  return {
    id: "servers",
    title: "MCP servers",
    empty: "No agent has an MCP server. They are set in agents.defaults.mcpServers.",
    mayWait: true,
    entries: () => serving()?.views().map(entryOf) ?? [],
    acts: {
      accept: {
        label: "Accept the tools",
        role: "admin",
        async run({ id, version }) {
          const results = await serving()?.accept(nameOf(id) ?? "", version);
          if (results === undefined) return gone;
          const accepted = results.flatMap((one) => one.accepted ?? []);
          return accepted.length === 0
            ? { ok: false, text: "Nothing was accepted: the tools are no longer those that were shown." }
            : { ok: true, text: `Accepted: ${[...new Set(accepted.map(plain))].join(", ")}.` };
        },
      },
      restart: {
        label: "Restart",
        role: "operate",
        async run({ id }) {
          const results = await serving()?.restart(nameOf(id) ?? "");
          const [view] = results ?? [];
          if (view === undefined) return gone;
          const { name, state, tools, reason, fix } = view;
          return state === "ready"
            ? { ok: true, text: `${name} is ready, with ${tools.length} tools.` }
            : { ok: false, text: `${name} is ${state}: ${[reason, fix].filter((one) => one !== "").join(" ")}` };
        },
      },
    },
  };
}
