/** Hands functions of the host to the engine, under one name that the engine's own code takes away before a module is loaded. */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";

/** Takes texts; what it returns was made in the engine. */
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
