/**
 * One server, kept running: started again when it ends, asked for its tools again, and given up when it ends too often.
 */
import type { Json, PluginLog } from "service-gateway/sdk";
import type { CallOptions, Connection, ConnectionEvents } from "./connection.ts";
import { causesOf, oneLine, ServerFault } from "./fault.ts";
import { type ListedTool, printOf } from "./listed-tool.ts";
import { shownAnswer } from "./result.ts";
import { type Definition, identityOf, withoutSecrets } from "./settings.ts";

/** `waiting`: for the next attempt. `down`: given up until the configuration changes or the operator restarts it. */
type ServerState = "starting" | "ready" | "waiting" | "down" | "closed";

interface ServerOptions {
  readonly name: string;
  readonly definition: Definition;
  readonly open: (definition: Definition, events: ConnectionEvents, signal: AbortSignal) => Promise<Connection>;
  /** Called with the tools of each listing, before they are offered. */
  readonly onTools: (server: Server, tools: readonly ListedTool[]) => Promise<void>;
  readonly onStarted?: ConnectionEvents["onStarted"];
  readonly log: Pick<PluginLog, "debug" | "info" | "warn">;
  readonly now: () => number;
}

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;
/** A server that has run this long has started well, and its next end is its first one. */
const stableMs = 60_000;
const mostDeaths = 5;
const deathsWithinMs = 10 * 60_000;
const relistMs = 5 * 60_000;
const busyMs = 10_000;
/** A server may say that its tools have changed more often than this. */
const changePauseMs = 1_000;
const callWaitMs = 5_000;

export class Server {
  readonly name: string;
  readonly definition: Definition;
  readonly identity: string;
  readonly #options: ServerOptions;
  readonly #closing = new AbortController();
  #state: ServerState = "starting";
  #fault: ServerFault | undefined;
  #connection: Connection | undefined;
  #tools: readonly ListedTool[] = [];
  #attempt: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #noise = 0;
  #calls = 0;
  #readyAt = 0;
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The connection that is being asked for its tools again. */
  #listing: Connection | undefined;
  /** It has said that its tools have changed since they were last asked for. */
  #hasChanged = false;
  #deaths: readonly number[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.name = options.name;
    this.definition = options.definition;
    this.identity = identityOf(options.definition);
  }

  state(): ServerState {
    return this.#state;
  }

  /** Why it is not ready. */
  fault(): ServerFault | undefined {
    return this.#fault;
  }

  connection(): Pick<Connection, "server" | "protocol" | "pid"> | undefined {
    return this.#connection;
  }

  /** Those of the last connection; empty before the first one. */
  tools(): readonly ListedTool[] {
    return this.#tools;
  }

  /** How many lines that are not messages it has written to standard output since its last start. */
  noise(): number {
    return this.#noise;
  }

  /** Starts it. One attempt runs at a time. */
  start(): Promise<void> {
    this.#attempt ??= this.#connect().finally(() => {
      this.#attempt = undefined;
    });
    return this.#attempt;
  }

  /** Whether it is ready, after waiting for an attempt. One that waits for its next attempt tries at once. */
  async available(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#state === "ready") return true;
    if (this.#state !== "starting" && this.#state !== "waiting") return false;
    const limit = AbortSignal.timeout(ms);
    const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    await Promise.race([
      this.start(),
      new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true })),
    ]);
    return this.state() === "ready";
  }

  /**
   * A call of a tool, which is never sent twice. `tool` is what the model and an owner have read of it. The server is
   * sent `key`, by which it can recognize a call.
   */
  async call(tool: ListedTool, args: Json, { signal, key }: CallOptions): Promise<Json> {
    for (let mayRepeat = true; ; mayRepeat = false) {
      const isThere = await this.available(callWaitMs, signal);
      signal.throwIfAborted();
      const asked = this.#connection;
      if (!isThere || asked === undefined) return this.#down("the call was not sent. Try again later.");
      // It may have changed while an owner was asked, or with a new start.
      const now = this.#tools.find(({ name }) => name === tool.name);
      if (now !== undefined && printOf(now) !== printOf(tool))
        return this.#refusal(
          "the server has described this tool differently since it was offered, so the call was not sent",
        );
      this.#calls += 1;
      try {
        const answer = await asked.call(tool.name, args as Readonly<Record<string, unknown>>, { signal, key });
        return shownAnswer(this.name, answer, (text) => withoutSecrets(text, this.definition));
      } catch (thrown) {
        signal.throwIfAborted();
        if (!(thrown instanceof ServerFault)) return this.#unanswered(thrown, this.#connection === asked);
        if (thrown.ended && this.#connection === asked) this.#failed(thrown);
        if (thrown.notSent && mayRepeat) continue;
        if (thrown.notSent) return this.#down("the call was not sent.");
        return thrown.refused ? this.#refusal(this.#shown(thrown)) : this.#unknown("it ended during the call");
      } finally {
        this.#calls -= 1;
      }
    }
  }

  /** Starts it again; also after it was given up. */
  async restart(): Promise<void> {
    await this.#attempt;
    clearTimeout(this.#timer);
    const old = this.#connection;
    this.#connection = undefined;
    this.#deaths = [];
    this.#failures = 0;
    await old?.close();
    await this.start();
  }

  async close(): Promise<void> {
    this.#state = "closed";
    this.#closing.abort();
    clearTimeout(this.#timer);
    const old = this.#connection;
    this.#connection = undefined;
    await this.#attempt;
    await old?.close();
  }

  #later(ms: number, work: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(work, ms);
    this.#timer.unref();
  }

  async #connect(): Promise<void> {
    const { open, onTools, log, now } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    clearTimeout(this.#timer);
    this.#state = "starting";
    this.#noise = 0;
    let opened: Connection | undefined;
    try {
      opened = await open(
        this.definition,
        this.#events(() => opened),
        signal,
      );
      const found = await opened.list(signal);
      await onTools(this, found);
      signal.throwIfAborted();
      this.#connection = opened;
      this.#tools = found;
      this.#fault = undefined;
      this.#state = "ready";
      this.#readyAt = now();
      log.info({ server: this.name, tools: found.length, version: opened.server.version }, "an MCP server is ready");
      this.#relistLater();
    } catch (thrown) {
      await opened?.close();
      if (!signal.aborted) this.#failed(thrown);
    }
  }

  #events(own: () => Connection | undefined): ConnectionEvents {
    return {
      onLine: (line, from) => {
        if (from === "stdout") this.#noise += 1;
        this.#options.log.debug({ server: this.name, from, line }, "a line of an MCP server");
      },
      onToolsChanged: () => this.#toolsChanged(),
      onStarted: (pid) => this.#options.onStarted?.(pid) ?? (() => {}),
      onEnded: (fault) => {
        if (this.#connection !== undefined && this.#connection === own()) this.#failed(fault);
      },
    };
  }

  #failed(thrown: unknown): void {
    const { log, now } = this.#options;
    const fault = thrown instanceof ServerFault ? thrown : new ServerFault(this.#shown(thrown));
    const old = this.#connection;
    const wasStable = old !== undefined && now() - this.#readyAt >= stableMs;
    this.#connection = undefined;
    this.#fault = fault;
    this.#failures = wasStable ? 1 : this.#failures + 1;
    // A server elsewhere costs nothing while it is away; a program that ends again and again does.
    if (this.definition.kind === "stdio")
      this.#deaths = [...this.#deaths.filter((at) => now() - at < deathsWithinMs), now()];
    const isLost = this.#deaths.length >= mostDeaths;
    this.#state = isLost ? "down" : "waiting";
    const retryMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (this.#failures - 1));
    log.warn(
      { server: this.name, reason: fault.message, fix: fault.fix, ...(isLost ? {} : { retryMs }) },
      isLost
        ? `an MCP server is given up: it ended ${mostDeaths} times within 10 minutes`
        : "an MCP server is not available",
    );
    if (!isLost) this.#later(retryMs, () => void this.start());
    void old?.close();
  }

  #toolsChanged(): void {
    this.#hasChanged = true;
    if (this.#connection === undefined || this.#listing === this.#connection) return;
    if (this.#options.now() - this.#changedAt >= changePauseMs) void this.#relist();
    else this.#relistLater();
  }

  #relistLater(): void {
    const { now } = this.#options;
    const ms = this.#hasChanged ? Math.max(0, this.#changedAt + changePauseMs - now()) : relistMs;
    this.#later(ms, () => void this.#relist());
  }

  async #relist(): Promise<void> {
    const { signal } = this.#closing;
    const asked = this.#connection;
    if (asked === undefined || this.#listing === asked) return;
    if (this.#calls > 0) {
      // A server that does one thing at a time would be taken for a dead one.
      this.#later(busyMs, () => void this.#relist());
      return;
    }
    if (this.#hasChanged) this.#changedAt = this.#options.now();
    this.#hasChanged = false;
    this.#listing = asked;
    try {
      const found = await asked.list(signal);
      await this.#options.onTools(this, found);
      if (this.#connection === asked) this.#tools = found;
    } catch (thrown) {
      if (this.#connection !== asked || signal.aborted) return;
      if (thrown instanceof ServerFault && thrown.ended) {
        this.#failed(thrown);
        return;
      }
      this.#options.log.warn(
        { server: this.name, reason: this.#shown(thrown) },
        "the tools of an MCP server could not be listed again",
      );
    } finally {
      if (this.#listing === asked) this.#listing = undefined;
    }
    if (this.#connection === asked) this.#relistLater();
  }

  #shown(thrown: unknown): string {
    return oneLine(withoutSecrets(thrown instanceof Error ? thrown.message : String(thrown), this.definition));
  }

  /** The call had no effect. */
  #down(detail: string): Json {
    return {
      ok: false,
      error: `The server ${this.name} is not available: ${detail}`,
      code: "mcp_down",
      outcome: "refused",
    };
  }

  #refusal(reason: string): Json {
    return {
      ok: false,
      error: `The server ${this.name} refused the call: ${reason}`,
      code: "mcp_refused",
      outcome: "refused",
    };
  }

  #unknown(reason: string): Json {
    const error = `No answer of the server ${this.name}: ${reason}. It is not known whether the call took effect.`;
    return { ok: false, error, code: "mcp_outcome_unknown", outcome: "unknown" };
  }

  /** The library gave up. A restart, or another configuration, closes a connection in the middle of a call. */
  #unanswered(thrown: unknown, isOpen: boolean): Json {
    if (!isOpen) return this.#unknown("it ended during the call");
    const messages = [...causesOf(thrown)].map(({ message }) => message);
    // It asks a person for more before it does anything.
    if (messages.some((message) => /input[- ]required|input request/i.test(message)))
      return this.#refusal(this.#shown(thrown));
    return this.#unknown(this.#shown(thrown));
  }
}
