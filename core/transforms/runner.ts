/**
 * The child's side, and the whole of it: one process, one module, one call at a time. Started by the gateway with the
 * permission model on; everything that user code must not have is gone before the first line of it is read.
 */
import { types } from "node:util";
import { bare, freezeJson, renderAnswer } from "./answer.ts";
import { readRequest, writeReply } from "./channel.ts";
import { closeGlobals, type GuardedConsole } from "./guard.ts";
import {
  assign,
  IntrinsicError,
  IntrinsicPromise,
  keys,
  later,
  push,
  setPrototypeOf,
  slice,
  stringifyJson,
  text,
  whenSettled,
} from "./intrinsics.ts";
import { createModules, type Modules } from "./modules.ts";
import { readyTypes } from "./syntax.ts";
import { type Threads, watchThreads } from "./threads.ts";

interface Start {
  readonly id: string;
  readonly root: string;
  readonly module: string;
  readonly network: boolean;
  readonly refused: Readonly<Record<string, string>>;
  readonly compiled: Readonly<Record<string, string>>;
  /** Whether there are files of TypeScript. */
  readonly typed: boolean;
}

interface Call {
  readonly id: string;
  readonly export?: string;
  readonly context: { readonly headers: object; readonly query: object };
}

/** Calls that were sent together; they run like any others, one after the other. */
interface Several {
  readonly calls?: readonly Call[];
}

type Transform = (context: unknown) => unknown;

const { isPromise } = types;
const runtime = process;
const { reallyExit } = runtime as unknown as { readonly reallyExit: (code: number) => never };
const state: {
  id: string;
  namespace: Readonly<Record<string, unknown>>;
  modules: Modules | undefined;
  /** The call that is under way. */
  running: { readonly fail: (kind: "threw" | "timeout", error: unknown) => void } | undefined;
  /** The reply of the call that is over. It goes out when the process is at rest, so that all that a call does falls into its time. */
  held: string | undefined;
  /** Calls that came together, and which of them is next. */
  calls: readonly Call[];
  at: number;
} = {
  id: "",
  namespace: {},
  modules: undefined,
  running: undefined,
  held: undefined,
  calls: [],
  at: 0,
};

const render = (type: string, rest: string): string => `{"id":${stringifyJson(state.id)},"type":"${type}"${rest}}`;
const say = (type: string, rest: string): void => writeReply(render(type, rest));
const hold = (type: string, rest: string): void => {
  state.held = render(type, rest);
};

function fail(kind: "threw" | "result" | "exit" | "timeout", error: unknown): void {
  const { message, stack, code, file } = describe(error);
  const refused = code === "ERR_TRANSFORM_REFUSED" ? "refused" : kind;
  hold(
    "failed",
    `,"kind":"${refused}","message":${stringifyJson(message)},"where":${stringifyJson(stack)},"reason":${stringifyJson(code)},"file":${stringifyJson(file)},${files()}`,
  );
}

const files = (): string => {
  const names = state.modules?.takeLoaded() ?? [];
  let json = '"files":[';
  for (let index = 0; index < names.length; index++) json += `${index === 0 ? "" : ","}${stringifyJson(names[index])}`;
  return `${json}]`;
};

/** Whatever was thrown, in words. Reading it runs user code (getters, `toString`), which may throw as well. */
function describe(error: unknown): { readonly message: string; readonly stack: string; readonly code: string; readonly file: string } {
  try {
    if (error instanceof IntrinsicError) {
      const { name, message, stack, code, file } = error as Error & { readonly code?: unknown; readonly file?: unknown };
      const prefix = name === "Error" ? "" : `${text(name)}: `;
      return {
        message: slice(prefix + text(message), 0, 2_000),
        stack: slice(text(stack), 0, 4_000),
        code: slice(text(code ?? ""), 0, 100),
        file: slice(text(file ?? ""), 0, 500),
      };
    }
    return { message: `It threw no Error but ${slice(text(error), 0, 500)}`, stack: "", code: "", file: "" };
  } catch {
    return { message: "It threw something that cannot be described", stack: "", code: "", file: "" };
  }
}

function transformOf(name: string | undefined): Transform {
  const { namespace } = state;
  const found = namespace[name ?? "default"];
  if (typeof found === "function") return found as Transform;
  const wanted = name === undefined ? "no function as its default export" : `no function named ${stringifyJson(name)}`;
  const others = exportNames();
  throw new IntrinsicError(`The module exports ${wanted}; it exports ${others.length === 0 ? "none" : others.join(", ")}`);
}

function exportNames(): string[] {
  const found: string[] = [];
  const names = keys(state.namespace);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (typeof state.namespace[name] === "function") push(found, name);
  }
  return found;
}

const guarded: GuardedConsole & Threads = { reset: () => {}, spend: () => true, busy: () => false };

function start(request: Start): void {
  state.id = request.id;
  const known = (map: Readonly<Record<string, string>>) => Object.assign(bare<string>(), map);
  state.modules = createModules({ root: request.root, refused: known(request.refused), compiled: known(request.compiled) });
  if (request.typed) readyTypes();
  assign(guarded, watchThreads());
  const limits = closeGlobals({
    network: request.network,
    print: (level, line) => say("log", `,"level":"${level}","line":${stringifyJson(line)}`),
    exit(code) {
      fail("exit", new IntrinsicError(`It called process.exit(${code === undefined ? "" : slice(text(code), 0, 20)})`));
      give();
      return reallyExit(0);
    },
  });
  assign(guarded, limits);
  runtime.on("uncaughtException", late);
  runtime.on("unhandledRejection", late);
  runtime.on("beforeExit", drained);
  say("ready", "");
}

function load(request: { readonly module: string }): Promise<void> {
  return (state.modules as Modules).load(request.module).then(
    (namespace) => {
      state.namespace = namespace;
      hold("loaded", `,"exports":${stringifyJson(exportNames())},${files()}`);
    },
    (error) => fail("threw", error),
  );
}

/** As the gateway has it: names of headers and of the query cannot reach a prototype. */
function contextOf(context: Call["context"]): object {
  setPrototypeOf(context.headers, null);
  setPrototypeOf(context.query, null);
  return freezeJson(context);
}

/** Runs one call; `done` is called once there is a reply. */
function run(request: Call, done: () => void): void {
  state.id = request.id;
  guarded.reset();
  let over = false;
  const finish = (answer: () => void): void => {
    // A promise that settles after its call was given up has nobody to answer.
    if (over) return;
    over = true;
    state.running = undefined;
    answer();
    done();
  };
  const settle = (value: unknown): void =>
    finish(() => {
      let json: string | undefined;
      try {
        json = renderAnswer(value);
      } catch (error) {
        fail("result", error);
        return;
      }
      hold("result", `${json === undefined ? "" : `,"value":${json}`},${files()}`);
    });
  const threw = (error: unknown): void => finish(() => fail("threw", error));
  state.running = { fail: (kind, error) => finish(() => fail(kind, error)) };
  let value: unknown;
  try {
    value = transformOf(request.export)(contextOf(request.context));
  } catch (error) {
    threw(error);
    return;
  }
  if (typeof value !== "object" || value === null) settle(value);
  else whenSettled(isPromise(value) ? value : new IntrinsicPromise((resolve) => resolve(value)), settle, threw);
}

function give(): void {
  if (state.held !== undefined) writeReply(state.held);
  state.held = undefined;
}

/** From the event loop's top each time, so that what a call left behind (timers, collected objects) gets its turn. */
function next(): void {
  if (guarded.busy(next)) return;
  // Between this and the next request, nothing of the user's can run: no timer, no thread.
  give();
  const request = nextCall() ?? (readRequest() as (Call & Several & { readonly load?: string }) | undefined);
  if (request === undefined) reallyExit(0);
  else if (request.load !== undefined) {
    state.id = request.id;
    void load({ module: request.load }).then(() => later(next));
  } else if (request.calls !== undefined) {
    state.calls = request.calls;
    state.at = 0;
    next();
  } else run(request, () => void later(next));
}

/** Of several that came at once. */
function nextCall(): (Call & Several & { readonly load?: undefined }) | undefined {
  const call = state.at < state.calls.length ? state.calls[state.at] : undefined;
  state.at += 1;
  return call;
}

/** Nothing is left that could settle the promise of a call: no use in waiting for the deadline. */
function drained(): void {
  state.running?.fail("timeout", new IntrinsicError("Its promise never settles: nothing is left that it could wait for"));
}

function late(error: unknown): void {
  const { message } = describe(error);
  if (guarded.spend(message)) say("late", `,"message":${stringifyJson(message)}`);
}

const first = readRequest() as Start | undefined;
if (first === undefined) reallyExit(0);
else start(first);
later(next);
