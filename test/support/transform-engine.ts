/**
 * Keeps the engine of the transforms compiled, which is half of what a gateway's first transform takes. V8 shares the
 * code among the threads of a process, as long as one of them has it: a gateway keeps its first thread, but the
 * gateways of tests come and go.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

declare const WebAssembly: { readonly compile: (bytes: Uint8Array) => Promise<object> };

const file = createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
export const engine = WebAssembly.compile(readFileSync(file));
