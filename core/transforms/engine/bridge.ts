/**
 * Gives the engine access to functions of the host, under one global name. The engine's own code removes that name before it loads a
 * module.
 */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";

/** A host function that takes strings. Its result is a value created in the engine. */
export type BridgeFunction = (first: string, ...rest: readonly string[]) => QuickJSHandle;

export function installBridge(context: QuickJSContext, functions: Readonly<Record<string, BridgeFunction>>): void {
  const bridge = context.newObject();
  for (const [name, work] of Object.entries(functions)) {
    const called = (...given: readonly QuickJSHandle[]) => {
      const [first = "", ...rest] = given.map((handle) => context.getString(handle));
      return work(first, ...rest);
    };
    context.newFunction(`host.${name}`, called).consume((handle) => context.setProp(bridge, name, handle));
  }
  context.setProp(context.global, "bridge", bridge);
  bridge.dispose();
}
