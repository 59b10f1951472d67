/**
 * Loads grammY when the first account opens, not when the plugin is declared. It uses the build for browsers, because
 * the other one includes a client, a polyfill and a form encoder (17 MB) that are not needed here.
 */
import type { Api } from "grammy";

interface Library {
  readonly Api: typeof Api;
}

/**
 * Hides `localStorage` while loading. A logger in the library looks for it, and some Node versions then print a
 * warning.
 */
async function withoutStorage<T>(load: () => Promise<T>): Promise<T> {
  const storage = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  // Without a getter there is no such storage, or another account is loading at the moment.
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
