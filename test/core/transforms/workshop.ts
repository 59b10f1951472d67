import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "../../../core/contract/types.ts";
import { resolveTransformsRoot } from "../../../core/transforms/root.ts";
import {
  createTransforms,
  type TransformSettings,
  type Transforms,
  type TransformsOptions,
} from "../../../core/transforms/sandbox.ts";

export interface Line {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export interface Workshop {
  /** Holds `transforms/`, as the directory of a configuration file does. */
  readonly directory: string;
  readonly root: string;
  readonly transforms: Transforms;
  readonly lines: Line[];
  settings: TransformSettings;
  write(name: string, text: string): string;
  run(module: string, payload?: Json, name?: string): Promise<Json | undefined>;
  /** What a call rejects with; a call that does not is a fault of the test. */
  fault(
    module: string,
    payload?: Json,
    name?: string,
  ): Promise<{ readonly kind: string; readonly message: string; readonly where?: string }>;
  close(): Promise<void>;
}

/** Real files, real processes, in a directory of its own. */
export function openWorkshop(
  files: Readonly<Record<string, string>> = {},
  options: Partial<TransformSettings> & Pick<Partial<TransformsOptions>, "threads" | "idleMs" | "now"> = {},
): Workshop {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "transforms-")));
  const root = join(directory, "transforms");
  const lines: Line[] = [];
  const note = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  mkdirSync(root);
  const { threads, idleMs, now = () => performance.now(), ...settings } = options;
  const shop: Workshop = {
    directory,
    root,
    lines,
    settings: { runtime: "sandbox", memoryMb: 64, cpuMs: 5_000, timeoutSeconds: 10, network: false, ...settings },
    transforms: createTransforms({
      root: () => resolveTransformsRoot({ configDirectory: directory }),
      settings: () => shop.settings,
      log: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
      now,
      ...(threads === undefined ? {} : { threads }),
      ...(idleMs === undefined ? {} : { idleMs }),
    }),
    write(name, text) {
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    run(module, payload = {}, name) {
      const context = {
        payload,
        headers: { "x-event": "push" },
        query: { q: "1" },
        path: "ci/done",
        source: "ci",
        now: "2026-03-04T05:06:07.000Z",
      };
      return shop.transforms.run({ module, context, ...(name === undefined ? {} : { export: name }) });
    },
    async fault(module, payload, name) {
      const answer = await shop.run(module, payload, name).then(
        (value) => ({ value }),
        (error: unknown) => error as { readonly kind: string; readonly message: string; readonly where?: string },
      );
      if ("value" in answer) throw new Error(`${module} did not fail but returned ${JSON.stringify(answer.value)}`);
      return answer;
    },
    async close() {
      await shop.transforms.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  for (const [name, text] of Object.entries(files)) shop.write(name, text);
  return shop;
}
