/**
 * Remembers what each tool of a server looked like when it was accepted. What a model reads of a tool are instructions,
 * so an owner is asked before a tool that has changed or appeared later, until the operator accepts it. The first
 * listing is accepted as it is.
 */
import { createHash } from "node:crypto";
import type { Json, PluginStore } from "service-gateway/sdk";
import { type ListedTool, printOf } from "./listed-tool.ts";
import type { Server } from "./server.ts";

/** Why an owner is asked before a tool. `unknown`: the state could not be read or written. */
export type Doubt = "new" | "changed" | "unknown";

export interface Fingerprints {
  /**
   * Compares the tools with those that were accepted. Resolves with the doubts, by the server's own names of its tools.
   * Rejects if the state is away; until the next time, every tool is `unknown`.
   */
  see(server: Server, tools: readonly ListedTool[]): Promise<ReadonlyMap<string, Doubt>>;
  /** The doubts about the tools as they are now. */
  doubts(server: Server): ReadonlyMap<string, Doubt>;
  /** The same for one tool, looked up again: it may have been accepted at another gateway on the same store. */
  doubt(server: Server, tool: string): Promise<Doubt | undefined>;
  /**
   * What an operator names to accept the tools as they are: another one as soon as one of them is described
   * differently.
   */
  listing(server: Server): string;
  /**
   * Takes the tools of this listing for what they should be. Resolves with the names of those in doubt; `undefined` if
   * they differ now.
   */
  accept(server: Server, listing: string): Promise<readonly string[] | undefined>;
}

type Seen = Readonly<Record<string, string>>;

const keyOf = ({ name, identity }: Pick<Server, "name" | "identity">): string => `tools:${name}:${identity}`;

const isSeen = (value: unknown): value is Seen => typeof value === "object" && value !== null && !Array.isArray(value);

const printsOf = (tools: readonly ListedTool[]): Seen =>
  Object.fromEntries(tools.map((tool) => [tool.name, printOf(tool)]));

/** A tool as it was compared, and what came of it. */
interface Compared {
  readonly print: string;
  readonly doubt?: Doubt;
}

export function createFingerprints(store: Pick<PluginStore, "update">): Fingerprints {
  const compared = new Map<Server, ReadonlyMap<string, Compared>>();

  async function see(server: Server, tools: readonly ListedTool[]): Promise<ReadonlyMap<string, Doubt>> {
    if (tools.length === 0) return new Map();
    const prints = printsOf(tools);
    compared.delete(server);
    const seen = await store.update(keyOf(server), (value) => (value === null ? (prints as Json) : undefined));
    const doubtOf = (name: string, print: string): Doubt | undefined => {
      if (!isSeen(seen)) return "unknown";
      if (!Object.hasOwn(seen, name)) return "new";
      return seen[name] === print ? undefined : "changed";
    };
    const now = Object.entries(prints).map(([name, print]): readonly [string, Compared] => {
      const doubt = doubtOf(name, print);
      return [name, { print, doubt }];
    });
    compared.set(server, new Map(now));
    return new Map(now.flatMap(([name, { doubt }]) => (doubt === undefined ? [] : [[name, doubt] as const])));
  }

  /** A tool that was not compared as it is now is unknown: two listings may arrive at once. */
  function doubtOf(server: Server, tool: ListedTool): Doubt | undefined {
    const known = compared.get(server)?.get(tool.name);
    return known?.print === printOf(tool) ? known.doubt : "unknown";
  }

  function doubts(server: Server): ReadonlyMap<string, Doubt> {
    const found = server.tools().map((tool) => [tool.name, doubtOf(server, tool)] as const);
    return new Map(found.filter((one): one is readonly [string, Doubt] => one[1] !== undefined));
  }

  const listing = (server: Server): string =>
    createHash("sha256")
      .update(JSON.stringify(Object.entries(printsOf(server.tools())).sort(([a], [b]) => (a < b ? -1 : 1))))
      .digest("hex")
      .slice(0, 12);

  return {
    see,
    doubts,
    async doubt(server, name) {
      const look = () => server.tools().find((tool) => tool.name === name);
      const tool = look();
      if (tool === undefined || doubtOf(server, tool) === undefined) return tool === undefined ? "unknown" : undefined;
      // A state that is away leaves the doubt.
      await see(server, server.tools()).catch(() => {});
      const now = look();
      return now === undefined ? "unknown" : doubtOf(server, now);
    },
    listing,
    async accept(server, shown) {
      if (listing(server) !== shown) return undefined;
      const tools = server.tools();
      const accepted = [...doubts(server).keys()];
      const prints = printsOf(tools);
      await store.update(keyOf(server), (value) => ({ ...(isSeen(value) ? value : {}), ...prints }) as Json);
      await see(server, tools);
      return accepted;
    },
  };
}
