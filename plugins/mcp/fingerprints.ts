/**
 * Remembers what each tool of a server looked like when it was first seen. A server that changes the description of a tool later changes
 * what the model reads as instructions, so an owner is asked before such a tool until the change is accepted.
 */
import { createHash } from "node:crypto";
import type { Json, PluginStore } from "service-gateway/sdk";
import type { ListedTool } from "./connection.ts";
import type { Server } from "./server.ts";

export interface Fingerprints {
  /** Notes tools that are new, and which of the others have changed. */
  see(server: Server, tools: readonly ListedTool[]): Promise<void>;
  changed(server: Server): ReadonlySet<string>;
  /** The same for one tool, looked up again: the change may have been accepted at another gateway on the same store. */
  hasChanged(server: Server, tool: string): Promise<boolean>;
  /** Takes what the server's tools are now for what they should be. Resolves with the names of those that had changed. */
  accept(server: Server): Promise<readonly string[]>;
}

type Seen = Readonly<Record<string, string>>;

const keyOf = ({ name, identity }: Pick<Server, "name" | "identity">): string => `tools:${name}:${identity}`;

const printOf = ({ description, parameters }: ListedTool): string =>
  createHash("sha256")
    .update(JSON.stringify([description, parameters]))
    .digest("base64url");

export function createFingerprints(store: Pick<PluginStore, "update">): Fingerprints {
  const changed = new Map<Server, ReadonlySet<string>>();
  const none: ReadonlySet<string> = new Set();

  async function see(server: Server, tools: readonly ListedTool[]): Promise<void> {
    const prints = tools.map((tool) => [tool.name, printOf(tool)] as const);
    const seen = (await store.update(keyOf(server), (value) => {
      const known = (value ?? {}) as Seen;
      const fresh = prints.filter(([name]) => !Object.hasOwn(known, name));
      return fresh.length === 0 ? undefined : ({ ...known, ...Object.fromEntries(fresh) } as Json);
    })) as Seen | null;
    changed.set(server, new Set(prints.flatMap(([name, print]) => (seen?.[name] === print ? [] : [name]))));
  }

  return {
    see,
    changed: (server) => changed.get(server) ?? none,
    async hasChanged(server, tool) {
      if (changed.get(server)?.has(tool) === true) await see(server, server.tools());
      return changed.get(server)?.has(tool) === true;
    },
    async accept(server) {
      const accepted = [...(changed.get(server) ?? none)];
      const prints = Object.fromEntries(server.tools().map((tool) => [tool.name, printOf(tool)]));
      await store.update(keyOf(server), (value) => ({ ...((value ?? {}) as Seen), ...prints }) as Json);
      await see(server, server.tools());
      return accepted;
    },
  };
}
