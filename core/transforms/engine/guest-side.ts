/**
 * Connects the host with the code that runs in the engine: what that code asks for, and how its functions are called.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import type { Files } from "../modules/files.ts";
import type { Level } from "../printer.ts";
import { type BridgeFunction, installBridge } from "./bridge.ts";
import type { CallEffects } from "./call-effects.ts";
import { mostCharacters, operations } from "./host.ts";
import { createLinker } from "./linker.ts";

const levels = ["debug", "info", "warn", "error"] as const;

function text(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("A text was expected");
  return value;
}

function number(value: unknown): number {
  if (typeof value !== "number") throw new TypeError("A number was expected");
  return value;
}

function levelOf(value: unknown): Level {
  const level = levels.find((known) => known === value);
  if (level === undefined) throw new TypeError("A level of output was expected");
  return level;
}

function namesIn(json: string): readonly string[] {
  const names: unknown = JSON.parse(json);
  if (!Array.isArray(names) || names.length > maxNames)
    throw new RangeError(`A module exports at most ${maxNames} names`);
  return names.map(text);
}

export interface Guest {
  /** Calls a function of `guest/main.ts`. The caller disposes of the result. */
  call(name: string, ...given: readonly (string | number)[]): ReturnType<QuickJSContext["callFunction"]>;
  /** Whether an error message is about a forbidden import. */
  isRefusal(message: string): boolean;
}

export interface GuestOptions {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  /** The JavaScript of one of the gateway's own files. */
  readonly guestSource: (path: string) => string;
  readonly files: Files;
  readonly entry: string;
  readonly effects: CallEffects;
  /** Whether the call that computes has reached a limit. */
  readonly isOver: () => boolean;
  readonly hasNetwork: boolean;
  /** The outcome of a call; its parameters are those of `settle` in `guest/bridge.ts`. */
  readonly settle: (id: number, kind: string | undefined, text?: string, stack?: string) => void;
}

/**
 * More exports of a CommonJS module cannot be imported by name. Each takes a line of the source that the host writes
 * for the engine.
 */
const maxNames = 10_000;
/** Longest text that is copied out of the engine: a result whose characters are all escaped. */
const maxCopied = 8_388_608;

export function connectGuest(options: GuestOptions): Guest {
  const { runtime, context, guestSource, files, entry, effects, isOver, hasNetwork, settle } = options;
  const linker = createLinker({
    runtime,
    context,
    guestSource,
    files,
    entry,
    isOver,
    namesOf: (name) =>
      namesIn(context.unwrapResult(call("namesOf", name)).consume((handle) => context.getString(handle))),
  });
  /** The engine's own code asks, but a module can change what `JSON.stringify` makes of its values: each is checked. */
  const answers = new Map<string, (...given: readonly unknown[]) => unknown>([
    ["network", () => hasNetwork],
    ["read", (name) => files.read(text(name))],
    ["require", (specifier, from) => linker.require(text(specifier), text(from))],
    ["print", (level, line) => effects.print(levelOf(level), text(line))],
    ["timer", (id, ms) => effects.startTimer(number(id), number(ms))],
    ["clear", (id) => effects.stopTimer(number(id))],
    ["fetch", (id, request) => effects.send(number(id), request)],
  ]);

  function answer(name: string, given: readonly string[]): unknown {
    const operation = answers.get(name) ?? operations.get(name);
    if (operation === undefined) throw new TypeError("The host has no such function");
    const most = mostCharacters(name);
    if (given.reduce((sum, { length }) => sum + length, 0) > most)
      throw new RangeError(`${name} takes at most ${most} characters`);
    return operation(...given.map((json) => JSON.parse(json) as unknown));
  }

  const functions: Readonly<Record<string, BridgeFunction>> = {
    ask(name, ...given) {
      try {
        return context.newString(JSON.stringify({ value: answer(name, given) }));
      } catch (error) {
        const { name, message } = error as Error;
        return context.newString(JSON.stringify({ error: { name, message } }));
      }
    },
    settle(id, kind, text, stack) {
      settle(Number(id), kind, text, stack);
      return context.undefined;
    },
    compile: linker.compile,
    importNow: linker.importNow,
  };
  installBridge(context, functions, { isOver, maxLength: maxCopied });
  const guest = linker.importGuest();
  const exported = new Map<string, QuickJSHandle>();

  function call(name: string, ...given: readonly (string | number)[]): ReturnType<Guest["call"]> {
    const known = exported.get(name) ?? context.getProp(guest, name);
    exported.set(name, known);
    const handles = given.map((value) =>
      typeof value === "string" ? context.newString(value) : context.newNumber(value),
    );
    const called = context.callFunction(known, context.undefined, ...handles);
    for (const handle of handles) handle.dispose();
    return called;
  }

  return { call, isRefusal: linker.isRefusal };
}
