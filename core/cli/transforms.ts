/**
 * `transforms list` and `transforms test`: the transform files, and what one makes of a delivery. No gateway is needed.
 */
import type { LoadedConfig } from "../config/reading/load.ts";
import { asSentence, reasonOf } from "../contract/errors.ts";
import type { Json } from "../contract/types.ts";
import { visible, visibleLine } from "../log/visible.ts";
import { TransformError } from "../transforms/error.ts";
import { type FoundModule, listModules } from "../transforms/list.ts";
import { resolveTransformsRoot } from "../transforms/root.ts";
import type { Transforms } from "../transforms/sandbox.ts";
import { resultProblems } from "../webhooks/mapping/transform-result.ts";
import type { CommandContext } from "./context.ts";
import { readDelivery } from "./hooks/delivery-file.ts";
import type { Terminal } from "./output/terminal.ts";
import { openSandbox } from "./sandbox.ts";

interface Bench {
  readonly loaded: LoadedConfig;
  readonly root: string;
  readonly transforms: Transforms;
}

async function withBench<T>(context: CommandContext, work: (bench: Bench) => Promise<T>): Promise<T> {
  const loaded = await context.load();
  const transforms = openSandbox(context, loaded);
  try {
    const root = resolveTransformsRoot({
      configDirectory: loaded.directory,
      transformsDir: loaded.config.hooks.transformsDir,
    });
    return await work({ loaded, root, transforms });
  } finally {
    await transforms.close();
  }
}

interface ListedModule {
  readonly module: string;
  /** Its exported functions; `default` is called if a mapping names none. */
  readonly exports: readonly string[];
  /** Config paths of the mappings that name it. */
  readonly mappings: readonly string[];
  readonly problem?: string;
}

export async function listTransforms(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  return await withBench(context, async ({ loaded, root, transforms }) => {
    const used = usedModules(loaded);
    const found = listModules(root);
    const missing = [...used.keys()]
      .filter((module) => !found.some((one) => one.module === module))
      .map((module): FoundModule => ({ module }));
    const modules: ListedModule[] = [];
    for (const one of [...found, ...missing]) modules.push(await lookAt(one, used.get(one.module) ?? [], transforms));
    if (options.json === true) context.terminal.json({ root, modules });
    else showList(root, modules, context.terminal);
    return modules.some(({ mappings, problem }) => mappings.length > 0 && problem !== undefined) ? 1 : 0;
  });
}

interface Use {
  /** Config path of the mapping. */
  readonly at: string;
  readonly export: string;
}

const withoutDot = (module: string) => module.replace(/^(?:\.\/)+/, "");

function usedModules({ config }: LoadedConfig): ReadonlyMap<string, readonly Use[]> {
  const used = new Map<string, Use[]>();
  for (const [index, { transform }] of config.hooks.mappings.entries()) {
    if (transform === undefined) continue;
    const module = withoutDot(transform.module);
    used.set(module, [
      ...(used.get(module) ?? []),
      { at: `hooks.mappings[${index}]`, export: transform.export ?? "default" },
    ]);
  }
  return used;
}

async function lookAt(
  { module, problem }: FoundModule,
  uses: readonly Use[],
  transforms: Transforms,
): Promise<ListedModule> {
  const mappings = uses.map(({ at }) => at);
  if (problem !== undefined) return { module, exports: [], mappings, problem };
  try {
    const exports = await transforms.exportsOf(module);
    const unmet = uses.find((use) => !exports.includes(use.export));
    if (unmet === undefined) return { module, exports, mappings };
    const wanted =
      unmet.export === "default"
        ? "no function as its default export"
        : `no function named ${JSON.stringify(unmet.export)}`;
    return { module, exports, mappings, problem: `exports ${wanted}, which ${unmet.at} needs` };
  } catch (error) {
    return { module, exports: [], mappings, problem: reasonOf(error) };
  }
}

function showList(root: string, modules: readonly ListedModule[], terminal: Terminal): void {
  const { style } = terminal;
  terminal.line(style("dim", root));
  if (modules.length === 0)
    terminal.line(
      "There are no transforms. Put a .ts, .mts, .js or .mjs file there, and name it in " +
        "hooks.mappings[].transform.module.",
    );
  terminal.table(
    modules.map(({ module, exports, mappings, problem }) => {
      const [mark, colour] =
        problem !== undefined
          ? (["✗", "red"] as const)
          : mappings.length > 0
            ? (["✓", "green"] as const)
            : (["·", "dim"] as const);
      return [
        style(colour, mark),
        style("bold", visibleLine(module)),
        problem === undefined ? exports.join(", ") || "exports no function" : "",
        mappings.length > 0 ? mappings.join(", ") : style("dim", "no mapping names it"),
      ];
    }),
  );
  for (const { module, problem } of modules) {
    if (problem === undefined) continue;
    terminal.line();
    terminal.line(style("bold", visibleLine(module)));
    terminal.line(`  ${style("red", "error")} ${visibleLine(problem, 1_000)}`);
  }
}

interface Tried {
  readonly module: string;
  readonly export?: string;
  readonly ms: number;
  /** Absent if it overrides nothing, or failed. */
  readonly result?: Json;
  readonly error?: { readonly kind: string; readonly message: string; readonly where?: string };
  /** Why a gateway would refuse or ignore a part of the result; one sentence each. */
  readonly problems?: readonly string[];
}

/** Exits with 1 if the transform failed, or if its result has a problem. */
export async function testTransform(
  context: CommandContext,
  [module, file]: readonly [string, string],
  options: { readonly export?: string; readonly header?: readonly string[]; readonly json?: boolean },
): Promise<number> {
  const { recorded, headers } = await readDelivery(context, { name: "", file, header: options.header });
  const delivery = { ...recorded, headers: { ...recorded.headers, ...headers } };
  return await withBench(context, async ({ loaded, transforms }) => {
    const about = { module, export: options.export };
    // Loads the transform before the clock starts: users want to know how long a delivery takes, not a start.
    const warm = await transforms.exportsOf(module).catch((error: unknown) => error);
    const started = context.now();
    let tried: Tried;
    try {
      if (warm instanceof Error) throw warm;
      const result = await transforms.run({ ...about, context: delivery });
      const problems = problemsOf(result, mappingsOf(loaded, about));
      tried = {
        ...{ ...about, ms: context.now() - started },
        ...(result === undefined ? {} : { result }),
        ...(problems.length === 0 ? {} : { problems }),
      };
    } catch (error) {
      if (!(error instanceof TransformError)) throw error;
      const { kind, message, where } = error;
      tried = { ...about, ms: context.now() - started, error: { kind, message, where } };
    }
    if (options.json === true) context.terminal.json(tried);
    else showTried(tried, context.terminal);
    return tried.error === undefined && tried.problems === undefined ? 0 : 1;
  });
}

interface NamingMapping {
  readonly at: string;
  readonly settings: LoadedConfig["config"]["hooks"]["mappings"][number];
}

/** The mappings that call this function. */
function mappingsOf(
  { config }: LoadedConfig,
  { module, export: name = "default" }: { readonly module: string; readonly export?: string | undefined },
): readonly NamingMapping[] {
  return config.hooks.mappings.flatMap((settings, index) => {
    const { transform } = settings;
    const isNamed =
      transform !== undefined &&
      withoutDot(transform.module) === withoutDot(module) &&
      (transform.export ?? "default") === name;
    return isNamed ? [{ at: `hooks.mappings[${index}]`, settings }] : [];
  });
}

function problemsOf(result: Json | undefined, mappings: readonly NamingMapping[]): readonly string[] {
  if (result === null) return [];
  const fields = result === undefined ? {} : (result as { readonly [name: string]: Json });
  const without = mappings.find(({ settings }) => {
    const [field, template] =
      (fields.action ?? settings.action) === "wake"
        ? (["text", settings.textTemplate] as const)
        : (["message", settings.messageTemplate] as const);
    return template === undefined && !Object.hasOwn(fields, field);
  });
  const empty =
    without === undefined
      ? []
      : [
          `${without.at} has no template for its text, so the result needs a message, or null if there is nothing ` +
            "to do",
        ];
  return [...resultProblems(fields), ...empty];
}

function showTried({ module, export: name, ms, result, error, problems = [] }: Tried, terminal: Terminal): void {
  const { style } = terminal;
  const title = style("bold", `${module}${name === undefined ? "" : ` (${name})`}`);
  if (error !== undefined) {
    terminal.line(`${style("red", "failed")}: ${title}: ${visibleLine(error.message, 2_000)}`);
    for (const line of error.where?.split("\n") ?? []) terminal.line(`  ${style("dim", visibleLine(line, 500))}`);
  } else if (result === undefined) terminal.line(`${title} overrides nothing (${ms} ms)`);
  else if (result === null) terminal.line(`${title} returned null: nothing to do (${ms} ms)`);
  else {
    terminal.line(`${title} returned (${ms} ms)`);
    terminal.line(visible(JSON.stringify(result, null, 2)));
  }
  for (const problem of problems) terminal.line(`${style("red", "!")} ${visibleLine(asSentence(problem), 1_000)}`);
}
