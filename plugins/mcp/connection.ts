/** A connection to a server: started, greeted, and asked for its tools. The library is loaded with the first one. */
import type { MCPClient } from "@ai-sdk/mcp";
import { addressFault, fetchFor } from "./address.ts";
import { type Answer, type Answers, createAnswers } from "./answers.ts";
import { withKey } from "./call-key.ts";
import { causesOf, oneLine, ServerFault } from "./fault.ts";
import { type ListedTool, listedTool } from "./listed-tool.ts";
import { lastWords, ProgramTransport } from "./program/transport.ts";
import { type AddressDefinition, type Definition, type ProgramDefinition, withoutSecrets } from "./settings.ts";

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
  /** Rejects with `ServerFault`, or with an error of the library. */
  call(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  readonly onLine: (line: string, from: "stderr" | "stdout") => void;
  readonly onToolsChanged: () => void;
  /** A program runs. What is returned is called when it has ended. */
  readonly onStarted?: (pid: number) => () => void;
  /** It ended by itself. */
  readonly onEnded: (fault: ServerFault) => void;
}

const initMs = 10_000;
const listMs = 30_000;
const mostPages = 50;
const mostTools = 1_000;
/** Methods that a server does not know: it speaks the newest protocol only. */
const unknownMethod: readonly unknown[] = [-32_601, -32_600];

export async function openConnection(
  definition: Definition,
  events: ConnectionEvents,
  signal: AbortSignal,
): Promise<Connection> {
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
  // Servers repeat their keys in errors, and could in anything else that they say of themselves.
  const hide = (text: string) => withoutSecrets(text, definition);
  return definition.kind === "stdio"
    ? await openProgram(definition, { events, hide }, client)
    : await openAddress(definition, hide, client);
}

type Hide = (text: string) => string;

type Connect = (
  transport: Parameters<typeof import("@ai-sdk/mcp").createMCPClient>[0]["transport"],
) => Promise<MCPClient>;

async function openProgram(
  definition: ProgramDefinition,
  { events, hide }: { readonly events: ConnectionEvents; readonly hide: Hide },
  connect: Connect,
): Promise<Connection> {
  const answers = createAnswers();
  const printed: string[] = [];
  let isOpen = false;
  const onLine: ConnectionEvents["onLine"] = (line, from) => {
    if (!isOpen && printed.length < 20) printed.push(line);
    events.onLine(line, from);
  };

  async function attempt(discovers: boolean): Promise<Connection> {
    const transport = new ProgramTransport(definition, {
      onLine,
      onToolsChanged: events.onToolsChanged,
      onStarted: events.onStarted,
      hide,
      answers,
    });
    transport.supportsProtocolVersionDiscovery = discovers;
    let client: MCPClient;
    try {
      client = await connect(transport);
    } catch (thrown) {
      // The library has begun to close it; the program must have ended before another one takes its place.
      await transport.close();
      const fault = transport.fault();
      if (fault !== undefined) throw fault;
      if (!discovers && [...causesOf(thrown)].some(({ code }) => unknownMethod.includes(code)))
        return await attempt(true);
      throw greetingFault(thrown, `${definition.command} started${lastWords(printed)}`, hide);
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
    return connectionOf(client, {
      faultOf: () => transport.fault(),
      close: () => transport.close(),
      pid: transport.pid,
      answers,
      hide,
    });
  }

  return await attempt(false);
}

async function openAddress(definition: AddressDefinition, hide: Hide, connect: Connect): Promise<Connection> {
  const { kind: type, url, headers } = definition;
  const answers = createAnswers();
  const faultOf = (thrown: unknown) => addressFault(thrown, url, hide);
  try {
    const client = await connect({ type, url, headers, fetch: fetchFor(definition, answers), redirect: "error" });
    return connectionOf(client, { faultOf, close: () => client.close(), answers, hide });
  } catch (thrown) {
    throw faultOf(thrown) ?? greetingFault(thrown, `${new URL(url).host} was asked`, hide);
  }
}

function greetingFault(thrown: unknown, what: string, hide: Hide): ServerFault {
  const reason = oneLine(hide(thrown instanceof Error ? thrown.message : String(thrown)));
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
    answers,
    hide,
  }: {
    readonly faultOf: (thrown: unknown) => ServerFault | undefined;
    close(): Promise<void>;
    readonly pid?: number | undefined;
    readonly answers: Answers;
    readonly hide: Hide;
  },
): Connection {
  const { name, version } = client.serverInfo;
  return {
    server: { name: oneLine(hide(String(name))), version: oneLine(hide(String(version))) },
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
          found.push(...tools.map((tool) => listedTool(tool, hide)));
          cursor = nextCursor;
          if (cursor === undefined) break;
        }
      } catch (thrown) {
        // A server may have no tools.
        if (/does not support tools/i.test(String(thrown))) return [];
        const reason = oneLine(hide(String((thrown as Error).message ?? thrown)));
        throw faultOf(thrown) ?? new ServerFault(`its tools could not be listed: ${reason}`);
      }
      // In the order of their names: some servers list them in another order each time, and a prompt that stays the
      // same can be cached.
      return found.slice(0, mostTools).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async call(tool, args, { signal, key }) {
      // Of this call alone: that of the caller may be aborted long after the call has ended, and then there is nothing
      // to cancel.
      const call = new AbortController();
      const giveUp = () => call.abort(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        const options = { signal: call.signal };
        return answers.take(await withKey(key, () => client.callTool({ name: tool, arguments: args, options })));
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
