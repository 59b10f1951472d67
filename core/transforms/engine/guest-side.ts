/** Connects the host with the code that runs in the engine: what that code asks for, and how its functions are called. */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from "quickjs-emscripten-core";
import type { Files } from "../modules/files.ts";
import { installBridge } from "./bridge.ts";
import type { CallEffects } from "./call-effects.ts";
import { maxQuestion, operations } from "./host.ts";
import { createLinker } from "./linker.ts";

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
  readonly hasNetwork: boolean;
  /** The outcome of a call; its parameters are those of `settle` in `guest/bridge.ts`. */
  readonly settle: (id: number, kind: string | undefined, text?: string, stack?: string) => void;
}

export function connectGuest({ runtime, context, guestSource, files, entry, effects, hasNetwork, settle }: GuestOptions): Guest {
  const linker = createLinker({
    runtime,
    context,
    guestSource,
    files,
    entry,
    namesOf: (name) =>
      JSON.parse(context.unwrapResult(call("namesOf", name)).consume((handle) => context.getString(handle))) as readonly string[],
  });
  const answers = new Map<string, (...given: readonly never[]) => unknown>([
    ["network", () => hasNetwork],
    ["read", (name: string) => files.read(name)],
    ["require", linker.require],
    ["print", effects.print],
    ["timer", effects.startTimer],
    ["clear", effects.stopTimer],
    ["fetch", effects.send],
  ]);

  function answer(name: string, given: readonly string[]): unknown {
    if (given.some(({ length }) => length > maxQuestion))
      throw new RangeError(`A function of the host takes at most ${maxQuestion} characters`);
    const operation = answers.get(name) ?? operations.get(name);
    if (operation === undefined) throw new TypeError("The host has no such function");
    return operation(...given.map((text) => JSON.parse(text) as never));
  }

  installBridge(context, {
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
  });
  const guest = linker.importGuest();
  const functions = new Map<string, QuickJSHandle>();

  function call(name: string, ...given: readonly (string | number)[]): ReturnType<Guest["call"]> {
    const known = functions.get(name) ?? context.getProp(guest, name);
    functions.set(name, known);
    const handles = given.map((value) => (typeof value === "string" ? context.newString(value) : context.newNumber(value)));
    const called = context.callFunction(known, context.undefined, ...handles);
    for (const handle of handles) handle.dispose();
    return called;
  }

  return { call, isRefusal: linker.isRefusal };
}
