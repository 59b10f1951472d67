/**
 * grammY, loaded when the first account opens, not when the plugin is declared. Its build for browsers is taken: the other
 * brings a client, a polyfill and a form encoder that are of no use here, 17 MB of them.
 */
import type { Api } from "grammy";

interface Library {
  readonly Api: typeof Api;
}

/** A logger inside looks for a browser's storage as it loads, and some versions of Node have one that prints a warning. */
async function withoutStorage<T>(load: () => Promise<T>): Promise<T> {
  const storage = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  // No getter: no such storage, or another account is loading just now.
  if (storage?.get === undefined || storage.configurable !== true) return await load();
  Object.defineProperty(globalThis, "localStorage", { value: undefined, configurable: true });
  try {
    return await load();
  } finally {
    Object.defineProperty(globalThis, "localStorage", storage);
  }
}

export async function loadLibrary(): Promise<Library> {
  return (await withoutStorage(() => import("grammy/web"))) as unknown as Library;
}
