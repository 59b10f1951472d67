/**
 * What the runtime's own code and user code both inherit from. Node is careful, but not everywhere: it calls `bind` of its loader's
 * functions, asks addresses for their `href`, awaits its own promises. Whoever patches these is handed the loader, and with it `fs`.
 */
import { defineProperty, freeze, getPrototypeOf, IntrinsicBytes, seal } from "./intrinsics.ts";

/**
 * Nothing can be added there, so that no setter for `0` and no getter for `then` is met; what is there may be replaced, as some packages
 * do, save for what is pinned.
 */
export function pinPrototypes(): void {
  const bytes = IntrinsicBytes.prototype;
  for (const prototype of [
    Object.prototype,
    Array.prototype,
    Function.prototype,
    Promise.prototype,
    bytes,
    getPrototypeOf(bytes) as object,
  ]) {
    seal(prototype);
  }
  pin(Function.prototype, ["apply", "bind", "call"]);
  pin(Array.prototype, [Symbol.iterator]);
  pin(Promise.prototype, ["constructor", "then"]);
  freeze(getPrototypeOf([][Symbol.iterator]()));
  freeze(URL.prototype);
}

function pin(prototype: object, names: readonly PropertyKey[]): void {
  for (const name of names) defineProperty(prototype, name, { writable: false });
}
