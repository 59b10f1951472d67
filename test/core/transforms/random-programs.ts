/**
 * Programs that poke at whatever a module can name: properties, calls, `Reflect`, proxies, generators, `async`, errors,
 * getters.
 */

const roots = (
  "globalThis this Object Function Array Promise Error Reflect Proxy Symbol Map WeakMap Set Date RegExp " +
  "JSON Math Intl URL URLSearchParams Buffer TextEncoder TextDecoder AbortController AbortSignal " +
  "DOMException console crypto process structuredClone setTimeout queueMicrotask atob seen WeakRef " +
  "FinalizationRegistry SharedArrayBuffer Uint8Array Iterator eval"
).split(" ");
const names = (
  "constructor prototype __proto__ caller callee arguments bridge ask compile importNow send mainModule " +
  "binding getBuiltinModule env stdout exit require module exports default then catch call apply bind name " +
  "stack cause message prepareStackTrace captureStackTrace stackTraceLimit subtle importKey digest " +
  "searchParams href from alloc timeout any abort signal format formatToParts raw next return throw has get " +
  "set ownKeys construct keys values deref"
).split(" ");
const symbols = [
  "Symbol.iterator",
  "Symbol.asyncIterator",
  "Symbol.toPrimitive",
  "Symbol.species",
  "Symbol.hasInstance",
  "Symbol.unscopables",
  "Symbol.for('sandbox:')",
];
const texts = ["''", "'node:fs'", "'return this'", "'../outside/secret.mjs'", "'a'", "'sha256'", "'http://a/'"];

export function randomPrograms({
  seed,
  count,
  perBatch,
}: {
  readonly seed: number;
  readonly count: number;
  readonly perBatch: number;
}): readonly (readonly string[])[] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T;

  function value(depth: number): string {
    if (depth <= 0)
      return random(3) === 0
        ? one([...texts, "0", "1", "-1", "null", "undefined", "[]", "({})", "(() => {})"])
        : one(roots);
    const inner = () => value(depth - 1 - random(2));
    const shapes: readonly (() => string)[] = [
      () => `${inner()}[${key()}]`,
      () => `${inner()}[${key()}]`,
      () => `${inner()}(${inner()}, ${inner()})`,
      () => `new (${inner()})(${inner()})`,
      () => `${inner()}[${key()}](${inner()})`,
      () =>
        `Reflect.${one(["get", "apply", "construct", "getPrototypeOf", "ownKeys", "getOwnPropertyDescriptor"])}(${inner()}, ` +
        `${inner()}, [${inner()}])`,
      () =>
        `new Proxy(${inner()}, { get(...a) { a.forEach(seen); return Reflect.get(...a); }, apply(...a) { ` +
        "a.forEach(seen); return Reflect.apply(...a); }, construct(...a) { a.forEach(seen); return " +
        "Reflect.construct(...a); } })",
      () => `(function* () { try { yield seen(${inner()}); } finally { seen(this); } })().next(${inner()}).value`,
      () => `await (async () => seen(${inner()}))()`,
      () => `(() => { try { throw ${inner()}; } catch (e) { seen(e); return e?.[${key()}]; } })()`,
      () =>
        `(() => { try { return ${inner()}(${inner()}); } catch (e) { seen(e?.constructor); return ` +
        "seen(e?.stack); } })()",
      () => `Object.defineProperty({}, "x", { get() { seen(this); return seen(${inner()}); } }).x`,
      () =>
        `Object.assign(Object.create(${inner()}), { toString() { seen(arguments); return "a"; }, ` +
        `[Symbol.toPrimitive](h) { return seen(h); } }) + ""`,
      () => `await import(${inner()})`,
      () => `structuredClone(${inner()})`,
    ];
    return `seen(${one(shapes)()})`;
  }

  const key = (): string => (random(5) === 0 ? one(symbols) : JSON.stringify(one(names)));

  const programs = Array.from({ length: count }, () =>
    Array.from({ length: 1 + random(3) }, () => `try { ${value(1 + random(4))}; } catch (e) { seen(e); }`).join(" "),
  );
  return Array.from({ length: Math.ceil(count / perBatch) }, (_, index) =>
    programs.slice(index * perBatch, (index + 1) * perBatch),
  );
}
