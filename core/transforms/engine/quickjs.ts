/** Shared by all engines of a thread: the compiled WebAssembly module, and the source of the code that runs inside. */
import { readFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import variant from "@jitl/quickjs-ng-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from "quickjs-emscripten-core";

export interface QuickJs {
  /** Creates a runtime with its own memory. */
  create(memoryMb: number): Promise<{ readonly runtime: QuickJSRuntime; readonly context: QuickJSContext }>;
  /** The JavaScript of one of the gateway's own files, by its path below `core/`. */
  guestSource(path: string): string;
}

/** The part that is used here; TypeScript declares it only for browsers. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object;
};

const stackBytes = 512 * 1024;
const pageBytes = 65_536;
const initialPages = 256;

type LoadModule = Extract<Awaited<ReturnType<QuickJSSyncVariant["importModuleLoader"]>>, (...given: never) => unknown>;

/**
 * Lets Node encode the texts that go into the engine's memory. The module's own function for this looks at one
 * character at a time.
 */
const encodingNatively =
  (load: LoadModule): LoadModule =>
  async (options) => {
    const encoder = new TextEncoder();
    const module = await load(options);
    module.lengthBytesUTF8 = (text) => Buffer.byteLength(text);
    module.stringToUTF8 = (text, at, size) => {
      const place = module.HEAPU8.subarray(at, size === undefined ? undefined : at + size - 1);
      module.HEAPU8[at + encoder.encodeInto(text, place).written] = 0;
    };
    return module;
  };

export function createQuickJs(): QuickJs {
  const file = createRequire(import.meta.url).resolve("@jitl/quickjs-ng-wasmfile-release-sync/wasm");
  const compiled = WebAssembly.compile(readFileSync(file));
  const sources = new Map<string, string>();
  return {
    async create(memoryMb) {
      const maximum = Math.max(initialPages, (memoryMb * 1_048_576) / pageBytes);
      const wasmMemory = new WebAssembly.Memory({ initial: initialPages, maximum });
      const own = newVariant(variant as unknown as QuickJSSyncVariant, { wasmModule: await compiled, wasmMemory });
      const importModuleLoader = async () => encodingNatively((await own.importModuleLoader()) as LoadModule);
      const quickjs = await newQuickJSWASMModuleFromVariant({ ...own, importModuleLoader });
      const runtime = quickjs.newRuntime({ maxStackSizeBytes: stackBytes });
      return { runtime, context: runtime.newContext() };
    },
    guestSource(path) {
      const known = sources.get(path);
      if (known !== undefined) return known;
      const text = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
      const source = path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
      sources.set(path, source);
      return source;
    },
  };
}
