/**
 * Ways out of a sandbox, as somebody would try them. Bodies are those of `async (p) => { ... }`, with what lies outside
 * in `p`; whatever one can show is returned. Every one of them has to come back with nothing.
 */

/** Modules of Node that lead to files, processes, the network or the runtime's insides. */
export const forbiddenModules =
  "fs fs/promises child_process worker_threads cluster net dgram dns dns/promises http https http2 tls " +
  "module process vm v8 inspector " +
  "inspector/promises diagnostics_channel async_hooks os repl sqlite wasi trace_events perf_hooks stream " +
  "stream/promises stream/web readline " +
  "tty test sea domain zlib constants sys";

/** Globals that lead to the network, other threads, or machine code. */
export const forbiddenGlobals =
  "fetch WebSocket EventSource Request Response Headers FormData XMLHttpRequest Worker SharedWorker " +
  "BroadcastChannel MessageChannel MessagePort " +
  "WebAssembly Atomics navigator localStorage sessionStorage require module exports Storage PerformanceObserver Blob";

/** One after the other in one process: none of these leaves anything behind. */
export const bodies: Readonly<Record<string, string>> = {
  "a file above the root": 'return await import("../outside/secret.mjs")',
  "a file above the root, spelled with percent signs": 'return await import("./%2e%2e/outside/secret.mjs")',
  "a file by its absolute path": 'return await import(p.outside + "/secret.mjs")',
  "a file by its URL": 'return await import("file://" + p.outside + "/secret.mjs")',
  "a file by a URL with a host": 'return await import("file://localhost" + p.outside + "/secret.mjs")',
  "JSON by its absolute path": 'return await import(p.outside + "/secret.json", { with: { type: "json" } })',
  "a text as a module": 'return await import(p.outside + "/secret.txt")',
  "a symbolic link to a file outside": 'return await import("./link.mjs")',
  "a symbolic link to a folder outside": 'return await import("./folder/secret.mjs")',
  "a relative symbolic link": 'return await import("./relative.ts")',
  "a symbolic link without its ending": 'return await import("./relative")',
  "a package above the root": 'return await import("above")',
  "the environment as a file": 'return await import("/proc/self/environ")',
  "the memory map as a file": 'return await import("/proc/self/maps")',
  "a data: URL": 'return await import("data:text/javascript,export default 1")',
  "a data: URL that imports": `return await import("data:text/javascript,export * from 'node:fs'")`,
  "a blob: URL": 'return await import("blob:nodedata:1")',
  "an http: URL": 'return await import("http://127.0.0.1:" + p.http + "/x.mjs")',
  "a module that only the sandbox has, by another name": 'return await import("sandbox:../outside/secret.mjs")',
  "another built-in by the sandbox's own scheme": 'return await import("sandbox:fs")',
  "where a file outside would be":
    "return import.meta.resolve('node:fs') + (await import(import.meta.resolve('../outside/secret.mjs')))",
  "Node's own loader":
    'return [typeof require, typeof module, typeof import.meta.require].filter((t) => t !== "undefined")',
  "the register of handed-on modules":
    'const r = globalThis[Symbol.for("sandbox:")]; return [r("fs"), r("node:fs"), r("constructor"), ' +
    'r("__proto__"), r("../outside/secret.mjs")].filter(Boolean)',
  "the environment": 'return JSON.stringify(process.env) === "{}" ? undefined : JSON.stringify(process.env)',
  "the environment by its name": "return process.env[p.variable]",
  "what the real process has":
    'return "binding _linkedBinding dlopen getBuiltinModule kill mainModule report execve chdir reallyExit ' +
    '_getActiveHandles send channel stdin permission".split(" ").filter((n) => process[n] !== undefined)',
  "the class of the process":
    "return [process.constructor, Object.getPrototypeOf(process), process.stdout.constructor?.connect].filter(Boolean)",
  "the class of the output": "return new process.stdout.constructor({ fd: 3 }).write?.('x')",
  "the console's streams": "return [console._stdout, console._stderr, console.Console].filter(Boolean)",
  "a forged answer by the output":
    `process.stdout.write('\\0\\0\\0\\x2a{"id":"1","type":"result","value":{"message":"forged"}}'); ` +
    `console.log('{"type":"result"}')`,
  "code from a text, by eval":
    'return [eval("typeof require"), eval("typeof process.binding")].filter((t) => t !== "undefined")',
  "code from a text, by Function":
    'return new Function("return [typeof require, this.process.getBuiltinModule, ' +
    'globalThis.bridge]")().filter((v) => v !== "undefined" && v !== undefined)',
  "code from a text, by a function's constructor": `return await (() => {}).constructor("return import('node:fs')")()`,
  "code from a text, by an async function's constructor":
    `return await (async () => {}).constructor("return await ` + `import('node:fs')")()`,
  "code from a text, by a generator's constructor":
    `return await (function* () {}).constructor("yield ` + `import('../outside/secret.mjs')")().next().value`,
  "code from a text, by a timer":
    'setTimeout("globalThis.hit = 1", 0); await new Promise((r) => setTimeout(r, 5)); return globalThis.hit',
  "a port of messages, by a signal's own symbol":
    "const found = Object.getOwnPropertySymbols(AbortSignal.prototype).filter((s) => " +
    "/transfer|clone|messag/i.test(String(s))); return found.map((s) => AbortSignal.prototype[s]())",
  "a port of messages, by a stream of a blob":
    "return [...Object.getOwnPropertySymbols(Object.getPrototypeOf(new Blob().stream()))].map(String)",
  "a class of Node's, by an exception that says how it is cloned":
    "const seen = []; for (const s of [...Object.getOwnPropertySymbols(DOMException.prototype), " +
    "Symbol.for('messaging_clone_symbol')]) { const e = new DOMException('x'); Object.defineProperty(e, s, " +
    "{ value: () => ({ data: {}, deserializeInfo: 'net:Socket' }) }); const c = structuredClone(e); if " +
    "(c.connect !== undefined) seen.push('socket'); } return seen",
  "a console of Node's, by the same way":
    "return structuredClone(Object.assign(new DOMException('x'), { deserializeInfo: 'repl:REPLServer' })).context",
  "hooks of Node's loader": 'return (await import("node:module")).registerHooks',
  "a database": 'const { DatabaseSync } = await import("node:sqlite"); return new DatabaseSync(p.written)',
  "a request by fetch": "return await (await fetch('http://127.0.0.1:' + p.http)).text()",
  "the dispatcher behind fetch":
    "return [1, 2].map((n) => globalThis[Symbol.for('undici.globalDispatcher.' + n)]).filter(Boolean)",
  "the stream below a hash":
    'const { createHash } = await import("node:crypto"); const h = createHash("sha256"); return [h.pipe, ' +
    'h.constructor?.super_, Object.getPrototypeOf(h)?.on, h.update("x").emit].filter(Boolean)',
  "the key store, the engine, the primes of crypto":
    'const c = await import("node:crypto"); return ["setEngine", "setFips", "generateKeyPairSync", ' +
    '"createCipheriv", "X509Certificate", "Hash", "secureHeapUsed"].filter((n) => c[n] !== undefined)',
  "the callers on the stack":
    "Error.prepareStackTrace = (_, sites) => sites; try { return new Error().stack.flatMap((s) => " +
    "[s.getThis?.(), s.getFunction?.()]).filter((x) => x !== undefined && x !== null && x !== globalThis) } " +
    "finally { delete Error.prepareStackTrace }",
  "the timers of others":
    "let t = setTimeout(() => {}, 1e6), seen = [], at = t._idleNext; for (let i = 0; i < 50 && at && at !== " +
    "t; i++, at = at._idleNext) { if (typeof at._onTimeout === 'function') seen.push(String(at._onTimeout)) " +
    "} clearTimeout(t); return seen",
};

/** Bodies that leave something behind, or stand in a file of another kind: each in a process of its own. */
export const files: Readonly<Record<string, string>> = {
  "static.mjs": 'import { secret } from "../outside/secret.mjs"; export default () => ({ message: secret });',
  "static-fs.ts":
    'import { readFileSync } from "node:fs"; export default (c: any) => ({ message: ' +
    'readFileSync(c.payload.outside + "/secret.txt", "utf8") });',
  "export-from.mjs": 'export { secret as default } from "./link.mjs";',
  "required.cjs.js": 'module.exports = (c) => ({ message: require(c.payload.outside + "/secret.cjs") });',
  "required-above.js": 'const s = require("../outside/secret.cjs"); module.exports = () => ({ message: s });',
  "required-package.js": 'const s = require("above"); module.exports = () => ({ message: s });',
  "required-link.js": 'const s = require("./folder/secret.cjs"); module.exports = () => ({ message: s });',
  "loader.js": `module.exports = ({ payload: p }) => {
    const tries = [
      () => module.constructor._load("node:fs"), () => module.constructor.createRequire(p.outside + "/x.js")("./secret.cjs"),
      () => require.main.require("fs"), () => module.require("fs"), () => module.parent.require("fs"), () => require("module"), () => require("node:process"),
      () => Object.values(require.cache)[0].constructor, () => require.extensions[".js"], () => require.constructor("return process")(),
      () => module.__proto__.constructor.constructor("return globalThis.bridge")(), () => this.constructor.constructor("return globalThis.bridge")(), () => arguments.callee.caller.arguments,
      () => require.resolve(p.outside + "/secret.cjs"), () => require.resolve.paths("x"), () => require({ toString: () => "fs" }),
      () => { let n = 0; return require({ toString: () => (n++ === 0 ? "path" : "fs") }).readFileSync; },
    ];
    const got = tries.map((t, i) => { try { const v = t(); return v === undefined || v === null || v === Object ? undefined : i + ": " + String(v).slice(0, 80); } catch { return undefined; } });
    return { message: got.filter(Boolean).join("; ") };
  };`,
  // What the rules are made of is replaced first.
  "patched.mjs": `export default async ({ payload: p }) => {
    const own = String.prototype.startsWith;
    String.prototype.startsWith = () => true; String.prototype.endsWith = () => true; String.prototype.slice = () => "path"; String.prototype.includes = () => true;
    RegExp.prototype.exec = () => null; RegExp.prototype.test = () => false; Map.prototype.get = () => ({}); Map.prototype.has = () => true;
    Set.prototype.has = () => true; Array.prototype.includes = () => true; Array.prototype.some = () => true; Array.prototype.indexOf = () => 0;
    for (const name of ["fs", "node:fs", "net", "shortCircuit"]) try { Object.prototype[name] = true; } catch {}
    Object.hasOwn = () => true; for (const name of ["call", "apply", "bind"]) try { Function.prototype[name] = () => true; } catch {}
    const got = [];
    for (const name of ["fs", "node:fs", "node:net", "node:module", "../outside/secret.mjs", p.outside + "/secret.mjs", "./link.mjs"]) {
      try { const m = await import(name); got[got.length] = name + " " + (m.secret ?? typeof m.readFileSync); } catch {}
    }
    String.prototype.startsWith = own;
    return { message: got + "" };
  };`,
  "patched-urls.mjs": `export default async ({ payload: p }) => {
    for (const [key, value] of Object.entries({ pathname: p.outside + "/secret.mjs", href: "file://" + p.outside + "/secret.mjs", protocol: "file:", hostname: "" })) {
      try { Object.defineProperty(URL.prototype, key, { get: () => value, configurable: true }); } catch {}
    }
    const path = await import("node:path"); const url = await import("node:url");
    for (const name of ["resolve", "join"]) try { path.default[name] = () => p.outside + "/secret.mjs"; } catch {}
    url.default.fileURLToPath = () => p.outside + "/secret.mjs";
    const got = [];
    for (const name of ["./static.mjs", "./bodies.mjs", "../outside/secret.mjs"]) {
      try { got.push((await import(name)).secret); } catch {}
    }
    return { message: got.filter(Boolean).join() };
  };`,
  // The real process is an emitter: whoever patches what it inherits is handed it.
  "emitter.mjs": `import { EventEmitter } from "node:events";
  const seen = new Set();
  for (const name of ["emit", "on", "addListener", "listenerCount", "listeners", "removeListener", "prependListener", "setMaxListeners", "rawListeners", "eventNames"]) {
    const own = EventEmitter.prototype[name];
    EventEmitter.prototype[name] = function (...args) { seen.add(this); return own.apply(this, args); };
  }
  export default async () => {
    Promise.reject(new Error("seen")); setTimeout(() => { throw new Error("seen"); }, 1);
    await new Promise((r) => setTimeout(r, 20));
    process.emit?.("x"); process.on?.("exit", () => {});
    return { message: [...seen].map((o) => [o.constructor?.name, typeof o.binding, typeof o.getBuiltinModule, typeof o.stdout].join()).join(";") };
  };`,
  // Bytes ask the constructor that they name for a part of themselves, and a getter for their length: both would be
  // handed the frame.
  "frames.mjs": `const seen = []; const Bytes = Uint8Array; const any = Object.getPrototypeOf(Bytes.prototype);
  const look = (bytes) => { if (bytes instanceof ArrayBuffer || bytes?.buffer instanceof ArrayBuffer) seen.push(bytes); };
  const forge = (memory) => {
    const view = new Bytes(memory, 4); const json = '{"id":"x","type":"log","level":"nope","line":"forged"}'.padEnd(200, " ");
    for (let i = 0; i < json.length; i++) view[i] = json.charCodeAt(i);
    return new Bytes(1000);
  };
  export default () => {
    Object.defineProperty(Bytes.prototype, "constructor", { value: { [Symbol.species]: function (memory, at, length) { look(memory); return at === 4 ? forge(memory) : new Bytes(memory, at, length); } } });
    const { get } = Object.getOwnPropertyDescriptor(any, "buffer");
    for (const name of ["length", "byteLength", "byteOffset", "buffer"]) {
      const own = Object.getOwnPropertyDescriptor(any, name).get;
      try { Object.defineProperty(any, name, { get() { seen.push(Reflect.apply(get, this, [])); return Reflect.apply(own, this, []); } }); } catch {}
    }
    console.log("x".repeat(30)); console.log("x".repeat(70_000));
    return { message: seen.map(String).join() };
  };`,
  // Node binds functions to its loader, which knows every module that was ever loaded.
  "loaders.mjs": `export default async () => {
    const seen = []; const { apply } = Reflect;
    for (const name of ["bind", "apply", "call"]) {
      const own = Function.prototype[name];
      try { Function.prototype[name] = function (...args) { seen[seen.length] = args[0]; return apply(own, this, args); }; } catch {}
    }
    try { await import("./files-of-its-own.mjs"); } catch {} try { await import("./required.cjs.js"); } catch {}
    return { message: seen.filter((s) => s?.loadCache !== undefined || s?.hrtime !== undefined).map((s) => s.constructor.name).join() };
  };`,
  // An address that says it is another one is looked up as that: each of the times that somebody asks.
  "addresses.mjs": `const { get, set } = Object.getOwnPropertyDescriptor(URL.prototype, "href"); const { apply } = Reflect;
  export default async () => {
    const got = [];
    for (let at = 0; at < 12; at++) {
      let asked = 0;
      try { Object.defineProperty(URL.prototype, "href", { get() { return asked++ === at ? "node:fs" : apply(get, this, []); }, set, configurable: true }); } catch {}
      try { if (typeof (await import("./callbacks.mjs?" + at)).readFileSync === "function") got.push(at); } catch {}
    }
    return { message: got.join() };
  };`,
  // Types are stripped by WebAssembly: whoever is called meanwhile must not see it.
  "meanwhile.mjs": `const got = new Set(); const { apply } = Reflect;
  for (const [prototype, names] of [[Array.prototype, ["push", "pop", "slice", "map"]], [TextDecoder.prototype, ["decode"]], [String.prototype, ["slice", "replace", "match", "split"]]]) for (const name of names) {
    const own = prototype[name];
    prototype[name] = function (...args) { got.add(typeof WebAssembly); return apply(own, this, args); };
  }
  export default async () => { try { await import("./static-fs.ts"); } catch {} got.delete("undefined"); return { message: [...got].join() }; };`,
  // A package's maps of names end where its files end.
  "maps.mjs": `const tries = ["mapped", "mapped/a", "mapped/b", "mapped/c", "mapped/d", "mapped/e"];
  export default async () => {
    const got = [];
    for (const name of tries) try { const m = await import(name); got.push(name + String(m.secret ?? m.default?.readFileSync ?? m.default ?? "?")); } catch {}
    return { message: got.join() };
  };`,
  "node_modules/mapped/package.json": JSON.stringify({
    name: "mapped",
    imports: { "#fs": "node:fs", "#up": "../../../outside/secret.mjs", "#link": "./link.mjs" },
    exports: {
      ".": "../../../outside/secret.mjs",
      "./a": "./../../../outside/secret.mjs",
      "./b": "./fs.mjs",
      "./c": "./up.mjs",
      "./d": "./fs.cjs",
      "./e": "node:fs",
    },
  }),
  "node_modules/mapped/fs.mjs": 'export * from "#fs"; export { default } from "#fs";',
  "node_modules/mapped/up.mjs": 'export * from "#up";',
  "node_modules/mapped/fs.cjs": 'module.exports = require("#fs");',
  // What is cloned may name the class that Node makes of it, and the emitter's constructor hands that over.
  "clones.mjs": `import { EventEmitter } from "node:events";
  export default () => {
    const seen = []; EventEmitter.init = function () { seen.push(this); this._events = {}; };
    const donor = new DOMException("x");
    for (const symbol of Object.getOwnPropertySymbols(DOMException.prototype)) {
      if (/clone/i.test(String(symbol))) Object.defineProperty(donor, symbol, { value: () => ({ data: {}, deserializeInfo: "net:Socket" }) });
    }
    try { structuredClone(donor); } catch {}
    return { message: seen.map((s) => typeof s.connect).join() };
  };`,
  // The gateway reads and compiles what cannot be stripped of its types: not what a thrown error says it was.
  "compiler.mjs":
    `export default ({ payload: p }) => { throw Object.assign(new Error("x"), { code: ` +
    `"ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", file: "../../.." + p.outside + "/secret.ts" }); };`,
  "compiler-own.mjs":
    `export default () => { throw Object.assign(new Error("x"), { code: ` +
    `"ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", file: "compiler-own.mjs" }); };`,
  // What the runtime looks for on its process and does not find there, it looks for further up.
  "ancestors.mjs": `import { EventEmitter } from "node:events"; import { deprecate } from "node:util";
  const seen = new Set();
  const behind = () => new Proxy({}, { get(_, key, asked) { seen.add(asked); }, set(_, key, value, asked) { seen.add(asked); Object.defineProperty(asked, key, { value, writable: true, configurable: true }); return true; } });
  for (const own of [EventEmitter.prototype, EventTarget.prototype, Map.prototype, Set.prototype, Error.prototype, RegExp.prototype, ArrayBuffer.prototype, Promise, Array.prototype, Function.prototype, globalThis]) try { Object.setPrototypeOf(own, behind()); } catch {}
  export default async () => {
    for (const act of [() => import("./bodies.mjs"), () => import("./nothing.mjs"), () => deprecate(() => {}, "x", "X1")(), () => new Promise((r) => setTimeout(r, 2))]) try { await act(); } catch {}
    return { message: [...seen].filter((o) => typeof o.hrtime === "function" && o !== globalThis.process || o.loadCache !== undefined).map((o) => typeof o).join() };
  };`,
  // Own toString, getters and proxies run in our hands: they must learn nothing there.
  "callbacks.mjs": `const got = [];
  const look = (f) => { got.push(f.caller ?? "", ...(f.arguments ?? [])); };
  export default () => {
    try { return new Proxy({}, { ownKeys(t) { got.push(new Error().stack.includes("process.binding")); return []; }, getPrototypeOf: () => Object.prototype }); } catch {}
  };`,
};
