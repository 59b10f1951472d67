/**
 * The language as it was before any user code ran, for the child's side. A transform may patch whatever it likes: what
 * decides about imports and answers must not notice. Nothing here is looked up on a prototype later.
 */
const { bind, call } = Function.prototype;

/** A method as a function of its object, immune to later changes of `call` and of the prototype. */
const uncurry = bind.bind(call) as <S, A extends readonly unknown[], R>(method: (this: S, ...args: A) => R) => (self: S, ...args: A) => R;

export const { parse: parseJson, stringify: stringifyJson } = JSON;
export const {
  assign,
  create,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getOwnPropertyNames,
  getPrototypeOf,
  setPrototypeOf,
  keys,
  seal,
} = Object;
export const { apply, ownKeys, deleteProperty } = Reflect;
export const { isArray } = Array;
export const isFiniteNumber = Number.isFinite;
export const objectPrototype = Object.prototype;
export const IntrinsicError = Error;
export const IntrinsicPromise = Promise;
export const text = String;
export const push = uncurry(Array.prototype.push as (this: unknown[], ...items: unknown[]) => number);
export const startsWith = uncurry(String.prototype.startsWith);
export const endsWith = uncurry(String.prototype.endsWith);
export const slice = uncurry(String.prototype.slice);
export const exec = uncurry(RegExp.prototype.exec);
/** Not `test`, which asks for `exec` on the prototype again. */
export const matches = (pattern: RegExp, value: string): boolean => exec(pattern, value) !== null;
export const whenSettled = uncurry(Promise.prototype.then as (this: Promise<unknown>, ...args: readonly unknown[]) => unknown);
export const encodeInto = uncurry(TextEncoder.prototype.encodeInto);
export const decode = uncurry(TextDecoder.prototype.decode as (this: TextDecoder, input?: Uint8Array) => string);
export const IntrinsicBytes = Uint8Array;
export const IntrinsicMemory = ArrayBuffer;
export const later = setImmediate;
