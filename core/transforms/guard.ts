/**
 * What user code finds around it: the language, a few harmless globals of the web, a console and a small `process`. A list of
 * what is there, not of what is not: a global that a later Node adds stays outside until somebody has looked at it.
 */
import { formatWithOptions } from "node:util";
import { deserialize, serialize } from "node:v8";
import { defineProperty, deleteProperty, freeze, ownKeys, setPrototypeOf, slice, text } from "./intrinsics.ts";
import { pinPrototypes } from "./prototypes.ts";

const language =
  "globalThis global Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent " +
  "escape unescape Object Function Boolean Symbol Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError " +
  "SuppressedError Number BigInt Math Date String RegExp Array Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array " +
  "Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Map Set WeakMap WeakSet WeakRef FinalizationRegistry " +
  "ArrayBuffer DataView JSON Promise Proxy Reflect Iterator Intl Temporal DisposableStack AsyncDisposableStack";
const web =
  "Buffer URL URLSearchParams URLPattern TextEncoder TextDecoder AbortController AbortSignal Event EventTarget DOMException structuredClone " +
  "atob btoa queueMicrotask setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate crypto Crypto CryptoKey SubtleCrypto";
const network =
  "fetch Headers Request Response FormData Blob File WebSocket CloseEvent MessageEvent EventSource ReadableStream WritableStream TransformStream";

export type ConsoleLevel = "debug" | "info" | "warn" | "error";

/** Characters of one console line, and of all that one call prints; a line costs the gateway something also when it is empty. */
const maxLine = 4_000;
const maxPrinted = 64_000;
const lineCost = 100;

export interface GuardedConsole {
  /** A new call may print as much as the one before. */
  reset(): void;
  /** Counts a line that the runner itself has to say; false when the call has said enough. */
  spend(line: string): boolean;
}

/** Takes away what user code must not have. Nothing of it is needed by what the runner captured before. */
export function closeGlobals(options: {
  readonly network: boolean;
  readonly print: (level: ConsoleLevel, line: string) => void;
  readonly exit: (code: unknown) => never;
}): GuardedConsole {
  const allowed: Record<string, true> = Object.create(null);
  for (const name of `${language} ${web}${options.network ? ` ${network}` : ""}`.split(" ")) allowed[name] = true;
  const real = process;
  for (const key of ownKeys(globalThis)) {
    if (typeof key === "string" ? allowed[key] !== true : key !== Symbol.toStringTag) deleteProperty(globalThis, key);
  }
  const { console: guarded, reset, spend } = createConsole(options.print);
  const put = (name: string, value: unknown) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  put("console", guarded);
  put("process", createProcess(real, options.exit));
  put("performance", freeze({ now: performanceNow, timeOrigin: real.hrtime.bigint() > 0n ? timeOrigin : 0 }));
  stripProcess(real);
  // Node's own has objects say which of Node's classes, `Socket` among them, is to be made of them.
  put("structuredClone", (value: unknown) => deserialize(serialize(value)));
  for (const space of [JSON, Math, Reflect]) freeze(space);
  pinPrototypes();
  return { reset, spend };
}

const { timeOrigin } = performance;
const performanceNow = performance.now.bind(performance);

function createConsole(print: (level: ConsoleLevel, line: string) => void): GuardedConsole & { readonly console: object } {
  let left = maxPrinted;
  const spend = (line: string): boolean => {
    if (left <= 0) return false;
    left -= line.length + lineCost;
    return true;
  };
  const write = (level: ConsoleLevel, items: readonly unknown[]): void => {
    if (left <= 0) return;
    const short = [];
    // Texts are cut before they are formatted: somebody may print 100 MB at once.
    for (let index = 0; index < items.length && index < 20; index++) {
      const item = items[index];
      short[index] = typeof item === "string" ? slice(item, 0, maxLine) : item;
    }
    let line: string;
    try {
      line = slice(
        formatWithOptions({ depth: 4, maxArrayLength: 50, maxStringLength: maxLine, breakLength: Number.POSITIVE_INFINITY }, ...short),
        0,
        maxLine,
      );
    } catch (error) {
      line = `(something that cannot be printed: ${text(error)})`;
    }
    spend(line);
    print(level, left > 0 ? line : `${line} ... (the rest of what this call prints is left out)`);
  };
  const level =
    (name: ConsoleLevel) =>
    (...items: readonly unknown[]) =>
      write(name, items);
  const nothing = () => {};
  return {
    console: {
      log: level("info"),
      info: level("info"),
      debug: level("debug"),
      trace: level("debug"),
      warn: level("warn"),
      error: level("error"),
      dir: (item: unknown) => write("info", [item]),
      table: (item: unknown) => write("info", [item]),
      assert: (held: unknown, ...items: readonly unknown[]) => (held ? undefined : write("error", ["Assertion failed", ...items])),
      group: level("info"),
      groupCollapsed: level("info"),
      groupEnd: nothing,
      time: nothing,
      timeLog: nothing,
      timeEnd: nothing,
      count: nothing,
      countReset: nothing,
    },
    reset() {
      left = maxPrinted;
    },
    spend,
  };
}

/** What packages commonly ask of `process`; none of it leads to the real one. */
function createProcess(real: NodeJS.Process, exit: (code: unknown) => never): object {
  const { nextTick, hrtime, memoryUsage, uptime } = real;
  const clock = (since?: [number, number]) => hrtime(since);
  clock.bigint = () => hrtime.bigint();
  const stream = freeze({ isTTY: false, write: () => true });
  return freeze({
    __proto__: null,
    title: "transform",
    version: real.version,
    versions: freeze({ ...real.versions }),
    platform: real.platform,
    arch: real.arch,
    env: {},
    argv: freeze(["transform"]),
    execArgv: freeze([]),
    exitCode: undefined,
    browser: false,
    pid: 1,
    stdout: stream,
    stderr: stream,
    cwd: () => "/",
    uptime: () => uptime(),
    hrtime: clock,
    memoryUsage: () => memoryUsage(),
    nextTick: (callback: (...args: readonly unknown[]) => void, ...args: readonly unknown[]) => nextTick(callback, ...args),
    emitWarning: () => {},
    on: () => {},
    once: () => {},
    off: () => {},
    addListener: () => {},
    removeListener: () => {},
    emit: () => false,
    exit,
    abort: () => exit("abort"),
  });
}

/**
 * The real `process` is out of reach. Should a way to it be found, it has no way on: what could touch the system is taken off it,
 * it has an emitter of its own and inherits from nothing, so that nobody is handed it who patches `EventEmitter.prototype`, or puts a
 * proxy behind that.
 */
function stripProcess(real: NodeJS.Process): void {
  const dangerous =
    "binding _linkedBinding dlopen getBuiltinModule kill _kill reallyExit _debugProcess _debugEnd _startProfilerIdleNotifier " +
    "_stopProfilerIdleNotifier stdin stdout stderr openStdin mainModule _getActiveHandles _getActiveRequests report execve chdir umask setuid " +
    "setgid seteuid setegid setgroups initgroups abort loadEnvFile moduleLoadList channel send disconnect _rawDebug _channel " +
    "constrainedMemory availableMemory setSourceMapsEnabled addUncaughtExceptionCaptureCallback setUncaughtExceptionCaptureCallback ref unref finalization " +
    "getActiveResourcesInfo allowedNodeEnvironmentFlags";
  const target = real as unknown as Record<string, unknown>;
  for (const name of ["emit", "on", "once", "addListener", "listenerCount", "listeners", "removeListener"]) {
    defineProperty(target, name, { value: target[name], writable: false, configurable: false });
  }
  for (const name of dangerous.split(" ")) {
    deleteProperty(target, name);
  }
  setPrototypeOf(target, null);
}
