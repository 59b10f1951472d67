/** The servers of all agents: started, stopped and shared as the configuration says. */
import type { PluginHost } from "service-gateway/sdk";
import { openConnection } from "./connection.ts";
import type { ToolOffer, ToolTurn } from "./contract.ts";
import { createFingerprints, type Fingerprints } from "./fingerprints.ts";
import { explainServers, statusOf, type Verdict, type Watched } from "./health.ts";
import { offerOf } from "./offer.ts";
import { createRefusals, type Refusal } from "./refusals.ts";
import { Server } from "./server.ts";
import { definitionOf, keyOf, type ServerSettings, serversIn } from "./settings.ts";
import type { ServedServer } from "./used-server.ts";
import { type ServerView, viewOf } from "./view.ts";

type Section = ReturnType<PluginHost["section"]>;

export interface Serving {
  offer(turn: Pick<ToolTurn, "agentId">): ToolOffer | Promise<ToolOffer>;
  /** What the operator is shown of each server. */
  views(): readonly ServerView[];
  /** What the server of a model says of a tool. */
  refused(refusal: Refusal): void;
  status(): readonly Watched[];
  explain(): Verdict;
  /** Both for the servers with the name, and `undefined` if there are none. */
  accept(name: string): Promise<readonly object[] | undefined>;
  restart(name: string): Promise<readonly ServerView[] | undefined>;
  /** Follows a changed configuration: what stayed the same goes on running. */
  follow(): void;
  close(): Promise<void>;
}

export function createServing(host: Pick<PluginHost, "store" | "log" | "now">, section: Section): Serving {
  const fingerprints = createFingerprints(host.store);
  const refusals = createRefusals();
  /** By name and definition. */
  const running = new Map<string, Server>();
  const ending = new Set<Promise<void>>();
  let byAgent: ReadonlyMap<string, readonly ServedServer[]> = new Map();

  function serverFor(name: string, settings: ServerSettings, wanted: Set<string>): Pick<ServedServer, "server" | "problem"> {
    try {
      const definition = definitionOf(settings, (value, key) => section.secret(value, key));
      const key = `${name} ${keyOf(definition)}`;
      wanted.add(key);
      let server = running.get(key);
      if (server === undefined) {
        server = new Server({ name, definition, open: openConnection, onTools: noteTools, log: host.log, now: host.now });
        running.set(key, server);
        void server.start();
      }
      return { server };
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown.message : String(thrown);
      host.log.error({ server: name, reason: problem }, "an MCP server is left out");
      return { problem };
    }
  }

  async function noteTools(server: Server, tools: Parameters<Fingerprints["see"]>[1]): Promise<void> {
    const before = fingerprints.changed(server);
    try {
      await fingerprints.see(server, tools);
    } catch (thrown) {
      // The store may be away for a moment; the next listing compares them.
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      host.log.warn({ server: server.name, reason }, "the tools of an MCP server could not be compared with those that were accepted");
    }
    const changed = [...fingerprints.changed(server)].filter((name) => !before.has(name));
    if (changed.length > 0)
      host.log.warn(
        { server: server.name, tools: changed },
        "an MCP server has changed tools; an owner is asked before them until `mcp accept`",
      );
  }

  function follow(): void {
    const wanted = new Set<string>();
    const agents = [...serversIn(section.settings())];
    const served = agents.map(([agent, servers]) => {
      const used = [...servers].map(
        ([name, settings]): ServedServer => ({ name, settings, agents: [agent], ...serverFor(name, settings, wanted) }),
      );
      return [agent, used] as const;
    });
    byAgent = new Map(served);
    for (const [key, server] of running) {
      if (wanted.has(key)) continue;
      running.delete(key);
      const end = server.close().finally(() => ending.delete(end));
      ending.add(end);
    }
  }

  /** Every entry of the configuration once: that of the defaults serves every agent. */
  function all(): readonly ServedServer[] {
    const found = new Map<string, ServedServer>();
    for (const one of [...byAgent.values()].flat()) {
      const known = found.get(one.settings.path);
      found.set(one.settings.path, known === undefined ? one : { ...known, agents: [...known.agents, ...one.agents] });
    }
    return [...found.values()];
  }

  const views = () => refusals.shown(all().map((one) => viewOf(one, fingerprints)));

  async function eachNamed<T>(name: string, work: (served: ServedServer, server: Server) => Promise<T>): Promise<readonly T[] | undefined> {
    const found = all().filter((one) => one.name === name);
    if (found.length === 0) return undefined;
    return await Promise.all(found.flatMap((one) => (one.server === undefined ? [] : [work(one, one.server)])));
  }

  return {
    offer({ agentId }) {
      const used = byAgent.get(agentId) ?? [];
      return used.length === 0 ? { tools: [] } : offerOf(used, fingerprints);
    },
    views,
    refused: refusals.note,
    status: () => views().map(statusOf),
    explain: () => explainServers(views()),
    accept: (name) =>
      eachNamed(name, async ({ settings }, server) => ({ name, path: settings.path, accepted: await fingerprints.accept(server) })),
    restart: (name) =>
      eachNamed(name, async (served, server) => {
        await server.restart();
        return viewOf(served, fingerprints);
      }),
    follow,
    async close() {
      const servers = [...running.values()];
      running.clear();
      byAgent = new Map();
      await Promise.all([...servers.map((server) => server.close()), ...ending]);
    },
  };
}
