/** One process that has one module loaded: how it comes to that, and whether its files are still what lies in the root. */
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Json } from "../types.ts";
import { TransformError } from "./error.ts";
import type { Reply } from "./frames.ts";
import { compilerLibrary, startProcess, type TransformProcess } from "./process.ts";
import { resolveModule } from "./root.ts";
import { type FileMark, markOf } from "./snapshot.ts";
import type { HeldSnapshot, Snapshots } from "./snapshots.ts";
import type { Watchman } from "./watchman.ts";

export interface SeatOptions {
  readonly module: string;
  readonly root: () => string;
  readonly snapshots: Snapshots;
  readonly watchman: Watchman;
  readonly memoryMb: number;
  readonly network: boolean;
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly onReply: (reply: Reply) => void;
}

export interface SeatCall {
  readonly export?: string | undefined;
  readonly context: object;
}

export interface Seat {
  readonly module: string;
  readonly pid: number | undefined;
  /** Functions that the module exports. */
  readonly exports: readonly string[];
  alive(): boolean;
  /** Whether a file that it read is no longer the one in the root. */
  isStale(): boolean;
  /** Runs calls one after the other. What the process ended before its turn is rejected with `NotRun`. */
  callAll(calls: readonly SeatCall[], timeoutMs: number): readonly Promise<Json | undefined>[];
  kill(): void;
  readonly gone: Promise<void>;
}

/** Node itself: slow on a busy machine, and nothing of the user's runs in it yet. */
const startMs = 30_000;
const compilerMb = 1_024;
const maxCompiled = 50;
const typed = /\.[cm]?ts$/;
const needsCompiler = "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX";
/** Files of packages are many, and are not edited: they are looked at once in a while. */
const packagesEveryMs = 1_000;

/** The call is to be tried again: a file that it needed was compiled. */
class CompiledMeanwhile extends Error {
  override readonly name = "CompiledMeanwhile";
}

/** Starts a process and loads the module; what lies in the root now is what it runs. */
export async function openSeat(options: SeatOptions): Promise<Seat> {
  const first = await tryOpen(options, false);
  if (first.seat !== undefined && !(first.reused && first.seat.isStale())) return first.seat;
  first.seat?.kill();
  // With a copy from before, a file may be missing that is there by now.
  if (!first.reused) throw first.error;
  const second = await tryOpen(options, true);
  if (second.seat === undefined) throw second.error;
  return second.seat;
}

type Loaded = { readonly seat: Seat; readonly needs?: undefined } | { readonly seat?: undefined; readonly needs: string };
type Tried = { readonly reused: boolean } & (
  | { readonly seat: Seat; readonly error?: undefined }
  | { readonly seat?: undefined; readonly error: unknown }
);

async function tryOpen(options: SeatOptions, fresh: boolean): Promise<Tried> {
  const { realRoot, file } = resolveModule(options.root(), options.module);
  const { snapshot, reused } = await options.snapshots.hold({ realRoot, fresh });
  const entry = relative(realRoot, file).split(sep).join("/");
  try {
    return { reused, seat: await loadCompiled(options, snapshot, entry) };
  } catch (error) {
    snapshot.release();
    return { reused, error };
  }
}

/** Files whose TypeScript is more than types are found one by one, while they are loaded. */
async function loadCompiled(options: SeatOptions, snapshot: HeldSnapshot, entry: string): Promise<Seat> {
  for (;;) {
    const { seat, needs } = await loadInto(options, snapshot, entry);
    if (seat !== undefined) return seat;
    await compileInto(options, snapshot, needs);
  }
}

async function compileInto(options: SeatOptions, snapshot: HeldSnapshot, file: string): Promise<void> {
  // The name comes from the child, where user code can throw whatever it likes: only a file of the copy is ever read for it.
  if (!snapshot.marks.has(file) || !typed.test(file)) {
    throw new TransformError(
      "refused",
      `The transform ${options.module} asks for a compiler of what is no TypeScript file of the transforms root`,
    );
  }
  if (snapshot.compiled.has(file) || snapshot.compiled.size >= maxCompiled) {
    throw new TransformError("refused", `${file} cannot be compiled, or more than ${maxCompiled} files need a TypeScript compiler`);
  }
  snapshot.compiled.set(file, await compile(options, snapshot, file));
}

async function compile(options: SeatOptions, snapshot: HeldSnapshot, file: string): Promise<string> {
  const filename = join(snapshot.directory, file);
  const child = startProcess({
    script: "compiler",
    watchman: options.watchman,
    root: snapshot.directory,
    memoryMb: compilerMb,
    network: false,
    onReply() {},
    onExit() {},
  });
  try {
    const request = { id: randomUUID(), source: await readFile(filename, "utf8"), filename, library: compilerLibrary() };
    const reply = await child.ask(request, { ms: startMs, what: "compile" });
    if (reply.type === "compiled" && typeof reply.code === "string") return reply.code;
    throw failure(reply, snapshot, options.module);
  } finally {
    child.kill();
  }
}

async function loadInto(options: SeatOptions, snapshot: HeldSnapshot, entry: string): Promise<Loaded> {
  const missing = snapshot.refused.get(entry);
  if (missing !== undefined) throw new TransformError("refused", `The transform module ${JSON.stringify(options.module)} ${missing}`);
  const ended = Promise.withResolvers<void>();
  const child = startProcess({
    script: "runner",
    watchman: options.watchman,
    root: snapshot.directory,
    memoryMb: options.memoryMb,
    network: options.network,
    onReply: options.onReply,
    onExit: () => ended.resolve(),
  });
  try {
    const settings = { root: snapshot.directory, network: options.network };
    const start = {
      id: randomUUID(),
      ...settings,
      refused: Object.fromEntries(snapshot.refused),
      compiled: Object.fromEntries(snapshot.compiled),
      typed: [...snapshot.marks.keys()].some((path) => typed.test(path)),
    };
    await child.ask(start, { ms: startMs, what: "start" });
    const reply = await child.ask({ id: randomUUID(), load: entry }, { ms: options.timeoutMs, what: "load" });
    if (reply.reason === needsCompiler && reply.file !== undefined && !snapshot.compiled.has(reply.file)) {
      child.kill();
      return { needs: reply.file };
    }
    if (reply.type !== "loaded") throw failure(reply, snapshot, options.module);
    return { seat: createSeat({ options, snapshot, child, reply, gone: ended.promise }) };
  } catch (error) {
    child.kill();
    throw error;
  }
}

function createSeat(parts: {
  readonly options: SeatOptions;
  readonly snapshot: HeldSnapshot;
  readonly child: TransformProcess;
  readonly reply: Reply;
  readonly gone: Promise<void>;
}): Seat {
  const { options, snapshot, child, reply } = parts;
  void parts.gone.then(() => snapshot.release());
  const own = new Map<string, FileMark>();
  const packages = new Map<string, FileMark>();
  let packagesAt = options.now();
  const remember = (files: readonly string[]): void => {
    for (const file of files) {
      const mark = snapshot.marks.get(file);
      if (mark !== undefined) (file.includes("node_modules/") ? packages : own).set(join(snapshot.realRoot, file), mark);
    }
  };
  remember(reply.files ?? []);
  const changed = (files: ReadonlyMap<string, FileMark>): boolean => {
    for (const [path, mark] of files) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || markOf(stats) !== mark) return true;
    }
    return false;
  };
  const named = [...own][0];
  const read = async (asked: Promise<Reply>): Promise<Json | undefined> => {
    const answer = await asked;
    if (answer.files !== undefined && answer.files.length > 0) remember(answer.files);
    if (answer.reason === needsCompiler && answer.file !== undefined) {
      // Imported only now, by a dynamic import: the module starts anew, with this file compiled.
      child.kill();
      await compileInto(options, snapshot, answer.file);
      throw new CompiledMeanwhile();
    }
    if (answer.type !== "result") throw failure(answer, snapshot, options.module);
    return checkAnswer(answer.value);
  };
  return {
    module: options.module,
    pid: child.pid,
    exports: reply.exports ?? [],
    alive: child.alive,
    isStale() {
      try {
        // The name may be a link that leads elsewhere by now.
        const stats = statSync(join(options.root(), options.module), { throwIfNoEntry: false });
        if (stats === undefined || markOf(stats) !== named?.[1] || changed(own)) return true;
        if (packages.size === 0 || options.now() - packagesAt < packagesEveryMs) return false;
        packagesAt = options.now();
        return changed(packages);
      } catch {
        return true;
      }
    },
    callAll(calls, timeoutMs) {
      const requests = calls.map(({ export: name, context }) => ({
        id: randomUUID(),
        ...(name === undefined ? {} : { export: name }),
        context,
      }));
      return child.askAll(requests, { ms: timeoutMs, what: "answer" }).map(read);
    },
    kill: child.kill,
    gone: parts.gone,
  };
}

const kinds = ["threw", "result", "exit", "timeout", "refused"] as const;
const whereLines = 5;

/** What went wrong, in terms of the user's own files: the copy and our own frames are left out. */
function failure(reply: Reply, snapshot: HeldSnapshot, module: string): TransformError {
  const { directory, realRoot } = snapshot;
  const own = (said: string) => said.replaceAll(`file://${directory}`, realRoot).replaceAll(directory, realRoot);
  const kind = kinds.find((known) => known === reply.kind) ?? "result";
  const frames = own(reply.where ?? "")
    .split("\n")
    .filter((line) => line.includes(`${realRoot}/`) && /:\d+/.test(line));
  const where = frames
    .slice(0, whereLines)
    .map((line) => line.trim())
    .join("\n");
  const message = (reply.message ?? `The transform ${module} failed`).replaceAll(`${directory}/`, "");
  return new TransformError(kind, message, { where: where === "" ? undefined : where });
}

/** The child checked it; this is for a child that is no longer ours. */
function checkAnswer(value: unknown): Json | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== "object" || Array.isArray(value) || !isTame(value, 1)) {
    throw new TransformError("result", "Its process sent something that is no answer");
  }
  return value as Json;
}

function isTame(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth > 64) return false;
  if (Array.isArray(value)) return value.every((item) => isTame(item, depth + 1));
  return Object.entries(value).every(([key, item]) => key !== "__proto__" && isTame(item, depth + 1));
}
