/** The servers of all agents: started, stopped and shared as the configuration says. */
import type { PluginHost } from "service-gateway/sdk";
import { openConnection } from "./connection.ts";
import type { ToolOffer, ToolTurn } from "./contract.ts";
import { plain } from "./fault.ts";
import { createFingerprints, type Doubt, type Fingerprints } from "./fingerprints.ts";
import { explainServers, statusOf, type Verdict, type Watched } from "./health.ts";
import { offerOf } from "./offer.ts";
import { createStartedPrograms } from "./program/left-programs.ts";
import { createRefusals, type Refusal } from "./refusals.ts";
import { Server } from "./server.ts";
import { definitionOf, keyOf, type ResolveSecret, type Section, type ServerSettings, serversIn } from "./settings.ts";
import type { ServedServer } from "./used-server.ts";
import { type ServerView, viewOf } from "./view.ts";

/** A server, and the tools that were in doubt before they were accepted; absent if none were. */
export type Accepting = ServerView & { readonly accepted?: readonly string[] };

export interface Serving {
  offer(turn: Pick<ToolTurn, "agentId">): Promise<ToolOffer>;
  /** What the operator is shown of each server. */
  views(): readonly ServerView[];
  /** What the server of a model says of a tool. */
  refused(refusal: Refusal): void;
  status(): readonly Watched[];
  explain(): Verdict;
  /**
   * Both for the servers with the name, and `undefined` if there are none. `accept` without the listing accepts
   * nothing.
   */
  accept(name: string, listing?: string): Promise<readonly Accepting[] | undefined>;
  restart(name: string): Promise<readonly ServerView[] | undefined>;
  /** Follows a changed configuration: what stayed the same goes on running. */
  follow(): void;
  close(): Promise<void>;
}

export function createServing(
  host: Pick<PluginHost, "store" | "log" | "now">,
  section: Section & { readonly secret: ResolveSecret },
): Serving {
  const fingerprints = createFingerprints(host.store);
  const programs = createStartedPrograms(host.store, host.log);
  programs.endLeft().catch((thrown: unknown) => {
    host.log.warn({ reason: String(thrown) }, "programs that a killed gateway may have left were not looked for");
  });
  const refusals = createRefusals();
  /** By name and definition. */
  const running = new Map<string, Server>();
  const ending = new Set<Promise<void>>();
  let byAgent: ReadonlyMap<string, readonly ServedServer[]> = new Map();

  function serverFor(
    name: string,
    settings: ServerSettings,
    wanted: Set<string>,
  ): Pick<ServedServer, "server" | "problem"> {
    try {
      const definition = definitionOf(settings, (value, key) => section.secret(value, key));
      const key = `${name} ${keyOf(definition)}`;
      wanted.add(key);
      let server = running.get(key);
      if (server === undefined) {
        const { log, now } = host;
        server = new Server({
          name,
          definition,
          open: openConnection,
          onTools: noteTools,
          onStarted: programs.started,
          log,
          now,
        });
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
    const before = fingerprints.doubts(server);
    let now: ReadonlyMap<string, Doubt> = new Map();
    try {
      now = await fingerprints.see(server, tools);
    } catch (thrown) {
      // The store may be away for a moment; until the next listing, an owner is asked before each of them.
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      host.log.warn(
        { server: server.name, reason },
        "the tools of an MCP server could not be compared with those that were accepted",
      );
    }
    const doubts = [...now].filter(([name, doubt]) => before.get(name) !== doubt);
    if (doubts.length > 0)
      host.log.warn(
        { server: server.name, tools: doubts.map(([name]) => plain(name)) },
        "an MCP server has changed or new tools; an owner is asked before them until `mcp accept`",
      );
  }

  function follow(): void {
    const wanted = new Set<string>();
    const agents = [...serversIn(section)];
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

  async function eachNamed<T>(
    name: string,
    work: (served: ServedServer, server: Server) => Promise<T>,
  ): Promise<readonly T[] | undefined> {
    const found = all().filter((one) => one.name === name);
    if (found.length === 0) return undefined;
    return await Promise.all(found.flatMap((one) => (one.server === undefined ? [] : [work(one, one.server)])));
  }

  return {
    async offer({ agentId }) {
      const used = byAgent.get(agentId) ?? [];
      return used.length === 0 ? { tools: [] } : await offerOf(used, fingerprints);
    },
    views,
    refused: refusals.note,
    status: () => views().map(statusOf),
    explain: () => explainServers(views()),
    accept: (name, listing = "") =>
      eachNamed(name, async (served, server) => {
        const accepted = await fingerprints.accept(server, listing);
        return { ...viewOf(served, fingerprints), ...(accepted !== undefined && { accepted }) };
      }),
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
