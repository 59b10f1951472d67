/** A connection to a server: started, greeted, and asked for its tools. The library is loaded with the first one. */
import type { MCPClient } from "@ai-sdk/mcp";
import { addressFault, fetchFor } from "./address.ts";
import { withKey } from "./call-key.ts";
import { causesOf, oneLine, ServerFault } from "./fault.ts";
import { lastWords, ProgramTransport } from "./program.ts";
import type { ServerResult } from "./result.ts";
import { type AddressDefinition, type Definition, type ProgramDefinition, withoutSecrets } from "./settings.ts";

/** A tool as its server describes it. All of it is untrusted. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: { readonly [key: string]: unknown };
  /** The server says that it changes nothing. */
  readonly readOnly: boolean;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Identifies the call, for the server. */
  readonly key: string;
}

export interface Connection {
  readonly server: { readonly name: string; readonly version: string };
  readonly protocol: string;
  /** The process of a program. */
  readonly pid?: number | undefined;
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /** Rejects with `ServerFault`, or with the error of the server. */
  call(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<ServerResult>;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  readonly onLine: (line: string, from: "stderr" | "stdout") => void;
  readonly onToolsChanged: () => void;
  /** It ended by itself. */
  readonly onEnded: (fault: ServerFault) => void;
}

const initMs = 10_000;
const listMs = 30_000;
const mostPages = 50;
const mostTools = 1_000;
const longestDescription = 4_000;
/** Methods that a server does not know: it speaks the newest protocol only. */
const unknownMethod: readonly unknown[] = [-32_601, -32_600];

export async function openConnection(definition: Definition, events: ConnectionEvents, signal: AbortSignal): Promise<Connection> {
  const { createMCPClient } = await import("@ai-sdk/mcp");
  const client = async (transport: Parameters<typeof createMCPClient>[0]["transport"]) =>
    await createMCPClient({
      transport,
      clientName: "service-gateway",
      maxRetries: 0,
      initializationOptions: { signal, timeout: initMs },
      // Errors of a call are also thrown there; these are late answers and the like.
      onUncaughtError: () => {},
    });
  const program = definition.kind === "stdio" ? openProgram(definition, hidingEvents(definition, events), client) : undefined;
  return hidingSecrets(await hiding(definition, program ?? openAddress(definition as AddressDefinition, client)), definition);
}

const hidden = (fault: ServerFault, definition: Definition) => new ServerFault(withoutSecrets(fault.message, definition), fault);

async function hiding<T>(definition: Definition, work: Promise<T>): Promise<T> {
  return await work.catch((thrown: unknown) => {
    throw thrown instanceof ServerFault ? hidden(thrown, definition) : thrown;
  });
}

const hidingEvents = (definition: Definition, { onLine, onToolsChanged, onEnded }: ConnectionEvents): ConnectionEvents => ({
  onLine: (line, from) => onLine(withoutSecrets(line, definition), from),
  onToolsChanged,
  onEnded: (fault) => onEnded(hidden(fault, definition)),
});

/** Servers repeat their keys in errors, and could in anything else that they say of themselves. */
function hidingSecrets(connection: Connection, definition: Definition): Connection {
  const shown = (text: string) => withoutSecrets(text, definition);
  const { name, version } = connection.server;
  return {
    ...connection,
    server: { name: shown(name), version: shown(version) },
    async list(signal) {
      const tools = await hiding(definition, connection.list(signal));
      return tools.map((tool) => ({ ...tool, description: shown(tool.description) }));
    },
    call: (tool, args, options) => hiding(definition, connection.call(tool, args, options)),
  };
}

type Connect = (transport: Parameters<typeof import("@ai-sdk/mcp").createMCPClient>[0]["transport"]) => Promise<MCPClient>;

async function openProgram(definition: ProgramDefinition, events: ConnectionEvents, connect: Connect): Promise<Connection> {
  const said: string[] = [];
  let isOpen = false;
  const onLine: ConnectionEvents["onLine"] = (line, from) => {
    if (!isOpen && said.length < 20) said.push(line);
    events.onLine(line, from);
  };

  async function attempt(discovers: boolean): Promise<Connection> {
    const transport = new ProgramTransport(definition, { onLine, onToolsChanged: events.onToolsChanged });
    transport.supportsProtocolVersionDiscovery = discovers;
    let client: MCPClient;
    try {
      client = await connect(transport);
    } catch (thrown) {
      // The library has begun to close it; the program must have ended before another one takes its place.
      await transport.close();
      const fault = transport.fault();
      if (fault !== undefined) throw fault;
      if (!discovers && [...causesOf(thrown)].some(({ code }) => unknownMethod.includes(code))) return await attempt(true);
      throw greetingFault(thrown, `${definition.command} started${lastWords(said)}`);
    }
    isOpen = true;
    const closed = transport.onclose;
    transport.onclose = () => {
      closed?.();
      const fault = transport.fault();
      if (fault !== undefined && !transport.isClosing()) events.onEnded(fault);
    };
    const early = transport.fault();
    if (early !== undefined) throw early;
    return connectionOf(client, { faultOf: () => transport.fault(), close: () => transport.close(), pid: transport.pid });
  }

  return await attempt(false);
}

async function openAddress(definition: AddressDefinition, connect: Connect): Promise<Connection> {
  const { kind: type, url, headers } = definition;
  const faultOf = (thrown: unknown) => addressFault(thrown, url);
  try {
    const client = await connect({ type, url, headers, fetch: fetchFor(definition), redirect: "error" });
    return connectionOf(client, { faultOf, close: () => client.close() });
  } catch (thrown) {
    throw faultOf(thrown) ?? greetingFault(thrown, `${new URL(url).host} was asked`);
  }
}

function greetingFault(thrown: unknown, what: string): ServerFault {
  const reason = oneLine(thrown instanceof Error ? thrown.message : String(thrown));
  if (/timed out/.test(reason))
    return new ServerFault(`it did not answer the greeting within ${initMs / 1_000} s: ${what}`, {
      fix: "Check that it is an MCP server, and that nothing but its messages goes to standard output.",
    });
  return new ServerFault(`the greeting failed: ${reason}`, { fix: "Check that it is an MCP server." });
}

function connectionOf(
  client: MCPClient,
  {
    faultOf,
    close,
    pid,
  }: { readonly faultOf: (thrown: unknown) => ServerFault | undefined; close(): Promise<void>; readonly pid?: number | undefined },
): Connection {
  const { name, version } = client.serverInfo;
  return {
    server: { name: oneLine(String(name)), version: oneLine(String(version)) },
    protocol: client.initializeResult.protocolVersion,
    pid,
    async list(signal) {
      const found: ListedTool[] = [];
      let cursor: string | undefined;
      try {
        for (let page = 0; page < mostPages && found.length < mostTools; page += 1) {
          const { tools, nextCursor } = await client.listTools({
            ...(cursor !== undefined && { params: { cursor } }),
            options: { signal, timeout: listMs },
          });
          found.push(...tools.map(listed));
          cursor = nextCursor;
          if (cursor === undefined) break;
        }
      } catch (thrown) {
        // A server may have no tools.
        if (/does not support tools/i.test(String(thrown))) return [];
        throw faultOf(thrown) ?? new ServerFault(`its tools could not be listed: ${oneLine(String((thrown as Error).message ?? thrown))}`);
      }
      // In the order of their names: some servers list them in another order each time, and a prompt that stays the same can be cached.
      return found.slice(0, mostTools).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async call(tool, args, { signal, key }) {
      // Of this call alone: that of the caller may be aborted long after the call has ended, and then there is nothing to cancel.
      const call = new AbortController();
      const giveUp = () => call.abort(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        const options = { signal: call.signal };
        return (await withKey(key, () => client.callTool({ name: tool, arguments: args, options }))) as ServerResult;
      } catch (thrown) {
        signal.throwIfAborted();
        const fault = faultOf(thrown);
        if (fault === undefined) throw thrown;
        // The library refuses a call on a closed connection before it sends anything.
        const notSent = fault.notSent || /closed client/.test(String(thrown));
        throw new ServerFault(fault.message, { ...fault, notSent });
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
    },
    async close() {
      // A server elsewhere may be away, and a session there ends by itself.
      await close().catch(() => {});
    },
  };
}

interface GivenTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

/** Invisible characters, which an operator who looks at a tool would miss, must not reach the model either. */
const seen = (text: string): string => text.replace(/(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "");

const visibleOnly = (key: string, value: unknown) =>
  (key === "description" || key === "title") && typeof value === "string" ? seen(value) : value;

function listed({ name, title, description, inputSchema, annotations }: GivenTool): ListedTool {
  const { $schema: _, ...schema } = JSON.parse(JSON.stringify(inputSchema, visibleOnly)) as GivenTool["inputSchema"];
  const texts = [description, title].map((text) => seen(text ?? ""));
  const said = texts.find((text) => text.trim() !== "") ?? `The tool ${name}.`;
  return {
    name,
    description: said.slice(0, longestDescription).toWellFormed(),
    parameters: { ...schema, type: "object", properties: schema.properties ?? {} },
    readOnly: annotations?.readOnlyHint === true,
  };
}
