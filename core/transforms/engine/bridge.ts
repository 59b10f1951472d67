/**
 * Gives the engine access to functions of the host, under one global name. The engine's own code removes that name
 * before it loads a module.
 */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";

/** A host function that takes strings. Its result is a value created in the engine. */
export type BridgeFunction = (first: string, ...rest: readonly string[]) => QuickJSHandle;

export interface BridgeOptions {
  /** Whether the call that computes has reached a limit. The engine's own check does not run while the host works. */
  readonly isOver: () => boolean;
  /** Maximum length of each string. Longer ones are not copied out of the engine. */
  readonly maxLength: number;
}

/** Once a call is over its limit, every function returns `undefined` without doing anything. */
export function installBridge(
  context: QuickJSContext,
  functions: Readonly<Record<string, BridgeFunction>>,
  { isOver, maxLength }: BridgeOptions,
): void {
  const bridge = context.newObject();
  const lengthOf = (handle: QuickJSHandle): number =>
    context.getProp(handle, "length").consume((length) => context.getNumber(length));
  const textOf = (handle: QuickJSHandle): string => {
    if (context.typeof(handle) !== "string") throw new TypeError("A function of the host takes texts");
    if (lengthOf(handle) > maxLength)
      throw new RangeError(`A function of the host takes at most ${maxLength} characters`);
    return context.getString(handle);
  };
  for (const [name, work] of Object.entries(functions)) {
    const called = (...given: readonly QuickJSHandle[]) => {
      if (isOver()) return context.undefined;
      const [first = "", ...rest] = given.map(textOf);
      const result = work(first, ...rest);
      if (!isOver()) return result;
      result.dispose();
      return context.undefined;
    };
    context.newFunction(`host.${name}`, called).consume((handle) => context.setProp(bridge, name, handle));
  }
  context.setProp(context.global, "bridge", bridge);
  bridge.dispose();
}
