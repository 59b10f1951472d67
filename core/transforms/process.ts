/** The gateway's side of one transform process: started closed, asked one thing at a time, killed when it takes too much. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TransformError } from "./error.ts";
import { createFrames, frame, type Reply } from "./frames.ts";
import type { Watchman } from "./watchman.ts";

export interface Request {
  readonly id: string;
  /** What the child is to do; each kind of request has fields of its own. */
  readonly [field: string]: unknown;
}

export interface Limit {
  readonly ms: number;
  readonly what: string;
}

/** The process ended before this call had its turn: it may be made elsewhere. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

export interface TransformProcess {
  readonly pid: number | undefined;
  readonly alive: () => boolean;
  /** Sends one request and resolves with its reply. Rejects with `TransformError` when the process ends first, or is ended for its limits. */
  ask(request: Request, limit: Limit): Promise<Reply>;
  /**
   * Sends several calls at once; they run one after the other, each under the limit of its own. The one that the process
   * ends with is rejected with the reason, those behind it with `NotRun`.
   */
  askAll(calls: readonly Request[], limit: Limit): readonly Promise<Reply>[];
  kill(): void;
}

const keptStderr = 4_096;
const watchEveryMs = 20;
/** Of the heap's limit: V8's young generation and what the collector has not come to yet. */
const slackBytes = 48 * 1_048_576;

const here = dirname(fileURLToPath(import.meta.url));
const fromSource = import.meta.url.endsWith(".ts");
const extension = fromSource ? ".ts" : ".js";
/** What a child reads of this program: this folder, the product's name, and how Node is to read them. */
const ownFiles: readonly string[] = [
  join(here, "*"),
  join(here, "..", `product${extension}`),
  join(here, fromSource ? "../.." : "../../..", "package.json"),
];
/** The compiler's library, which no transform gets to see. */
const compilerFiles = (): readonly string[] => [join(dirname(createRequire(import.meta.url).resolve("jiti/package.json")), "*")];
export const compilerLibrary = (): string => createRequire(import.meta.url).resolve("jiti");

export interface ProcessOptions {
  /** Which of our two children. */
  readonly script: "runner" | "compiler";
  /** Real directory that it may read, besides its own code. */
  readonly root: string;
  readonly memoryMb: number;
  readonly network: boolean;
  readonly watchman: Watchman;
  /** What it says without being asked. */
  readonly onReply: (reply: Reply) => void;
  readonly onExit: () => void;
}

/** The walls that Node itself puts up, whatever code finds its way to its modules. */
export function childFlags(options: {
  readonly script: string;
  /** Paths, or directories with `*`, that may be read. */
  readonly read: readonly string[];
  readonly memoryMb: number;
  readonly network: boolean;
}): readonly string[] {
  return [
    "--permission",
    ...options.read.map((path) => `--allow-fs-read=${path}`),
    // Node 24 has no such flag: there, what can be imported and the globals are the wall.
    ...(options.network && process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : []),
    "--disallow-code-generation-from-strings",
    "--no-addons",
    "--disable-sigusr1",
    "--no-warnings",
    "--no-global-search-paths",
    `--max-old-space-size=${options.memoryMb}`,
    options.script,
  ];
}

export function startProcess(options: ProcessOptions): TransformProcess {
  const { root, memoryMb, network } = options;
  const read = [join(root, "*"), ...ownFiles, ...(options.script === "compiler" ? compilerFiles() : [])];
  const flags = childFlags({ script: join(here, `${options.script}${extension}`), read, memoryMb, network });
  const child = spawn(process.execPath, flags, { env: {}, cwd: root, stdio: ["ignore", "ignore", "pipe", "pipe"], windowsHide: true });
  const { pid } = child;
  if (pid !== undefined) {
    options.watchman.add(pid);
    child.on("exit", () => options.watchman.remove(pid));
  }
  return attend(child, options);
}

interface Asked {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly limit: Limit;
  readonly id: string;
}

function attend(child: ChildProcess, options: ProcessOptions): TransformProcess {
  const pipe = child.stdio[3] as Socket;
  /** The first is under way, the others follow. */
  let asked: readonly Asked[] = [];
  let timer: NodeJS.Timeout | undefined;
  let alive = true;
  let cause: TransformError | undefined;
  let stderr = "";
  let baseline: number | undefined;
  let watch: NodeJS.Timeout | undefined;

  const begin = (): void => {
    clearTimeout(timer);
    const [first] = asked;
    if (first === undefined) return;
    const { ms, what } = first.limit;
    timer = setTimeout(
      () => end(new TransformError("timeout", `It did not ${what} within ${ms / 1_000} s (hooks.transforms.timeoutSeconds)`)),
      ms,
    );
  };
  const settle = (act: (waiting: Asked) => void): void => {
    const [first, ...rest] = asked;
    if (first === undefined) return;
    asked = rest;
    begin();
    act(first);
  };
  /** What waits behind the call that the process ends with. */
  const passOn = (): void => {
    const rest = asked;
    asked = [];
    begin();
    for (const waiting of rest) waiting.reject(new NotRun());
  };
  const end = (error: TransformError): void => {
    cause ??= error;
    child.kill("SIGKILL");
  };
  const gone = (error: TransformError): void => {
    if (!alive) return;
    alive = false;
    clearInterval(watch);
    pipe.destroy();
    settle((waiting) => waiting.reject(cause ?? error));
    passOn();
    options.onExit();
  };

  child.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-keptStderr);
  });
  child.on("error", (error) => gone(new TransformError("exit", `Its process cannot be started: ${error.message}`, { cause: error })));
  child.on("exit", (code, signal) => gone(endedBy(code, signal, stderr, options.memoryMb)));
  pipe.on("error", () => {});
  pipe.on(
    "data",
    createFrames((reply) => {
      if (reply === undefined) end(new TransformError("result", "Its process sent something that is no answer"));
      else if (reply.type === "log" || reply.type === "late") options.onReply(reply);
      else if (reply.id !== asked[0]?.id) end(new TransformError("result", "Its process sent an answer that nobody asked for"));
      else {
        // It is about to go: nobody else may be given this process.
        if (reply.kind === "exit") end(new TransformError("exit", reply.message ?? "It ended its process"));
        settle((waiting) => waiting.resolve(reply));
        if (reply.kind === "exit") passOn();
      }
    }),
  );

  /** Buffers lie outside the heap, which V8 does not limit: the whole process is watched while it runs a call. */
  const watchMemory = (): void => {
    watch ??= setInterval(() => {
      if (asked.length === 0) {
        clearInterval(watch);
        watch = undefined;
        return;
      }
      const bytes = residentBytes(child.pid);
      if (bytes === undefined || baseline === undefined || bytes - baseline <= options.memoryMb * 1_048_576 + slackBytes) return;
      end(new TransformError("memory", `It used more than ${options.memoryMb} MB (hooks.transforms.memoryMb)`));
    }, watchEveryMs);
  };

  const send = (requests: readonly Request[], message: object, limit: Limit): readonly Promise<Reply>[] => {
    const replies = requests.map(
      ({ id }) =>
        new Promise<Reply>((resolve, reject) => {
          if (!alive || cause !== undefined) reject(cause ?? new TransformError("exit", "Its process has ended"));
          else asked = [...asked, { resolve, reject, limit, id }];
        }),
    );
    if (!alive || cause !== undefined) return replies;
    begin();
    pipe.write(frame(message));
    if (baseline === undefined && !("root" in message)) baseline = residentBytes(child.pid);
    if (baseline !== undefined) watchMemory();
    return replies;
  };

  return {
    pid: child.pid,
    alive: () => alive && cause === undefined,
    ask: (request, limit) => send([request], request, limit)[0] as Promise<Reply>,
    askAll: (calls, limit) => (calls.length === 1 ? send(calls, calls[0] as Request, limit) : send(calls, { calls }, limit)),
    kill: () => end(new TransformError("exit", "The gateway ended its process")),
  };
}

function endedBy(code: number | null, signal: string | null, stderr: string, memoryMb: number): TransformError {
  if (/heap out of memory|Allocation failed|out of memory/i.test(stderr)) {
    return new TransformError("memory", `It used more than ${memoryMb} MB (hooks.transforms.memoryMb)`);
  }
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return new TransformError("exit", `Its process ended ${how}${said === "" ? "" : `: ${said.slice(0, 300)}`}`);
}

const pageBytes = 4_096;

/** Linux tells; elsewhere only the heap is limited. */
function residentBytes(pid: number | undefined): number | undefined {
  if (process.platform !== "linux" || pid === undefined) return undefined;
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]) * pageBytes;
  } catch {
    return undefined;
  }
}
