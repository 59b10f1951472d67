/**
 * The transport to a server that is a program, in place of the library's own: that one neither ends what the program
 * has started, nor says how it ended, and loses the server's notifications.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { JSONRPCMessage, MCPTransport, MCPTransportSendOptions } from "@ai-sdk/mcp";
import { asText, onEvent, onMessage } from "service-gateway/sdk/channel";
import { readLines } from "service-gateway/sdk/reading";
import { parseExact } from "service-gateway/sdk/tools";
import type { Answers } from "../answers.ts";
import { keyed } from "../call-key.ts";
import { plain, ServerFault } from "../fault.ts";
import type { ProgramDefinition } from "../settings.ts";
import { endAll, familyOf, isRunning } from "./processes.ts";
import { createTail, type Tail } from "./tail.ts";

/** What a program inherits. Everything else, such as keys of model servers, is the gateway's own. */
const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"] as const;

/** How long a program has to end after the end of its input, and again after SIGTERM. */
const graceMs = 1_000;
const pollMs = 20;
/** Longest message, in characters: a program that never ends a line must not fill the memory. */
const longestMessage = 32 * 1_024 * 1_024;
/** The longest logged part of a line that is not a message. */
const mostShown = 500;

export interface ProgramEvents {
  /** A line on standard error, or one on standard output that is not a message. */
  readonly onLine: (line: string, from: "stderr" | "stdout") => void;
  readonly onToolsChanged: () => void;
  /** It runs. What is returned is called when it has ended. */
  readonly onStarted?: ((pid: number) => () => void) | undefined;
  /** Removes secrets. */
  readonly hide: (text: string) => string;
  readonly answers: Answers;
}

export class ProgramTransport implements MCPTransport {
  // Without a probe for the newest protocol, for which old servers would need a second.
  supportsProtocolVersionDiscovery = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #definition: ProgramDefinition;
  readonly #events: ProgramEvents;
  readonly #stderr: Tail;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #fault: ServerFault | undefined;
  #closed: Promise<void> | undefined;

  constructor(definition: ProgramDefinition, events: ProgramEvents) {
    this.#definition = definition;
    this.#events = events;
    this.#stderr = createTail((line) => events.onLine(line, "stderr"), events.hide);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How the program ended by itself; `undefined` while it runs, and if it was closed. */
  fault(): ServerFault | undefined {
    return this.#fault;
  }

  isClosing(): boolean {
    return this.#closed !== undefined;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#definition;
    const own = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const child = spawn(command, args, {
      env: { ...Object.fromEntries(own), ...env },
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      // A process group of its own: what the program starts ends with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    const forget = child.pid === undefined ? undefined : this.#events.onStarted?.(child.pid);
    // A program that has ended refuses what is written; its end is reported below.
    onEvent(child.stdin, "error", { source: command, handle() {} });
    readLines(child.stdout.setEncoding("utf8"), (line) => this.#read(line), {
      source: command,
      maxChars: longestMessage,
      onTooLong: () => this.#tooLong(),
    });
    onMessage(child.stderr.setEncoding("utf8"), "data", {
      source: command,
      check: asText,
      handle: (chunk) => this.#stderr.write(chunk),
    });
    await new Promise<void>((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException) => reject(this.#ended(startFault(this.#definition, error)));
      onEvent(child, "spawn", { source: command, handle: resolve, once: true });
      onEvent<readonly [NodeJS.ErrnoException]>(child, "error", { source: command, handle: failed });
    });
    const left = (code: number | null, signal: NodeJS.Signals | null): void => {
      forget?.();
      this.#kill("SIGTERM");
      // What it wrote at last arrives with its end or soon after it; a grandchild may hold the pipe forever.
      const report = () => this.#ended(this.#exitFault(code, signal));
      const timer = setTimeout(report, 100);
      const closed = () => {
        clearTimeout(timer);
        report();
      };
      onEvent(child, "close", { source: command, handle: closed, once: true });
    };
    onEvent(child, "exit", { source: command, handle: left, once: true });
  }

  async send(message: JSONRPCMessage, { signal }: MCPTransportSendOptions = {}): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#fault !== undefined || this.isClosing())
      throw this.#fault ?? new ServerFault("it has ended", { notSent: true });
    const write = (one: object) => child.stdin.write(`${JSON.stringify(one)}\n`);
    if ("method" in message && "id" in message && message.method === "tools/call") {
      // The library only stops waiting; the server must stop working, too.
      const cancelled = {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: message.id, reason: "aborted" },
      };
      signal?.addEventListener("abort", () => void (this.#fault === undefined && write(cancelled)), { once: true });
      this.#events.answers.sent(message, signal);
    }
    write(keyed(message));
  }

  /** Resolves when the program and what it started have ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    const ended = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else onEvent(child, "exit", { source: this.#definition.command, handle: resolve, once: true });
    });
    // Its children are found only as long as it runs.
    const family = familyOf(child.pid);
    child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await within(ended, graceMs)) break;
      this.#kill(signal);
    }
    // What the program has started may have stayed, also in a group or a session of its own.
    this.#kill("SIGKILL");
    endAll(family);
    await within(ended, graceMs);
    for (let waited = 0; waited < graceMs && family.some(isRunning); waited += pollMs) await delay(pollMs);
    this.onclose?.();
  }

  /** A program that never ends its line would fill the memory, and what follows cannot be read any more. */
  #tooLong(): void {
    this.#ended(
      new ServerFault("it wrote a message of more than 32 MB and was ended", {
        fix: "Look at the tool that was called last.",
      }),
    );
    void this.close();
  }

  #read(line: string): void {
    if (line.trim() === "") return;
    const { answers, onLine, onToolsChanged, hide } = this.#events;
    let message: { readonly method?: unknown; readonly id?: unknown } | null;
    try {
      message = parseExact(line) as typeof message;
      if (typeof message !== "object" || message === null || !("jsonrpc" in message)) throw new TypeError("no message");
    } catch {
      onLine(plain(hide(line.slice(0, 16 * mostShown))).slice(0, mostShown), "stdout");
      const broken = answers.idIn(line);
      if (broken !== undefined) this.onmessage?.(answers.unreadable(broken) as JSONRPCMessage);
      return;
    }
    // The library knows no notifications of servers.
    if (typeof message.method === "string" && message.id === undefined) {
      if (message.method === "notifications/tools/list_changed") onToolsChanged();
      return;
    }
    try {
      this.onmessage?.(answers.passed(message) as JSONRPCMessage);
    } catch (thrown) {
      // Such as an answer to a call that was given up.
      this.onerror?.(thrown as Error);
    }
  }

  #exitFault(code: number | null, signal: NodeJS.Signals | null): ServerFault {
    const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    return new ServerFault(`${this.#definition.command} ${how}${lastWords(this.#stderr.lines())}`, {
      fix: "Run the command in a terminal with the same arguments and variables, and correct what it reports.",
    });
  }

  #ended(fault: ServerFault): ServerFault {
    if (this.#fault !== undefined || this.isClosing()) return fault;
    this.#fault = fault;
    this.onclose?.();
    return fault;
  }

  #kill(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // Nothing of it is left.
    }
  }
}

/** The end of what it wrote, for a hint. */
export function lastWords(lines: readonly string[]): string {
  const last = lines.slice(-5).join(" / ");
  return last === "" ? ", and wrote nothing" : `: ${last}`;
}

async function within(ended: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  return await Promise.race([ended.then(() => true), late]).finally(() => clearTimeout(timer));
}

const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text);

function startFault({ command, cwd }: ProgramDefinition, { code, message }: NodeJS.ErrnoException): ServerFault {
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    return new ServerFault(`its directory ${cwd} does not exist`, { fix: "Correct cwd of the server." });
  if (code === "ENOENT")
    return new ServerFault(
      isAbsolute(command) ? `there is no program ${command}` : `the command ${command} is not on PATH`,
      {
        fix:
          "Install it, or set command to its full path. " +
          `${cut(`PATH of the gateway is ${process.env.PATH ?? "empty"}`)}`,
      },
    );
  if (code === "EACCES")
    return new ServerFault(`${command} may not be executed by this user`, { fix: "Change its mode or its owner." });
  return new ServerFault(`${command} could not be started: ${message}`);
}
