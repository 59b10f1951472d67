/** A gateway in another process. It is found by the file in its state directory, and called over HTTP. */
import { accessSync, constants, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "../contract/errors.ts";
import { parseExactJson } from "../contract/exact-json.ts";

const addressFile = "gateway.json";
/** Loaded with the first call only: most commands find no gateway, or look into the state. */
const reading = () => import("../sdk/reading.ts");

export interface RunningGateway {
  readonly url: string;
  readonly pid: number;
  readonly startedAt: number;
  /** Whether the same gateway is still running, without a restart in between. */
  isThere(): Promise<boolean>;
  /** A management call with a JSON answer; `null` if it timed out. */
  call(method: "GET" | "POST" | "DELETE", path: string, options?: CallOptions): Promise<ManagementAnswer | null>;
  /** The events of a streaming management route. Throws when the connection breaks or the signal aborts. */
  events(path: string, signal: AbortSignal): AsyncIterable<unknown>;
  /** Makes it look for new work in the store. Resolves with `false` if it did not answer. */
  poke(): Promise<boolean>;
  /** What is running there; `null` if it did not answer. */
  describe(): Promise<unknown>;
  /** Whether it is ready, and what is not up. */
  readiness(): Promise<{ readonly ready: boolean; readonly reasons: readonly string[] }>;
}

export interface ManagementAnswer {
  readonly ok: boolean;
  readonly body: unknown;
}

interface CallOptions {
  readonly body?: object;
  readonly patienceMs?: number;
}

/** A gateway on the same machine answers at once unless it is in trouble. */
const usualPatienceMs = 2_000;
/** The longest answer is the result of a plugin's command. */
const maxAnswerBytes = 32 * 1_048_576;

export async function findGateway(stateDirectory: string): Promise<RunningGateway | null> {
  const file = join(stateDirectory, addressFile);
  const address = await readAddress(file);
  if (address === null || !isAlive(address.pid)) return null;
  // The id of a killed process may belong to another one, as after a restart of the machine, or always in a container.
  // Nothing is known about a program that listens at the address then, and it must not receive the token.
  const { isLockFree } = await import("../state/lock.ts");
  if (isLockFree(stateDirectory)) return null;
  const tokenFile = join(stateDirectory, "gateway-token");
  const token = await readFile(tokenFile, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  const found = token === "" ? "is missing or empty" : "has another token than the running gateway";
  // Not even `stop` and `restart` can reach it.
  const refusedHint =
    `The file ${tokenFile} ${found}. End process ${address.pid} (SIGTERM) and start the ` +
    "gateway again: it reads the file, or writes a new one.";
  const authorization = `Bearer ${token}`;
  const ask = async (
    method: "GET" | "POST" | "DELETE",
    path: string,
    { body, patienceMs = usualPatienceMs }: CallOptions = {},
  ): Promise<ManagementAnswer | null> => {
    try {
      const { fetchWhole } = await reading();
      const response = await fetchWhole(new URL(path, address.url), {
        method,
        headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        maxBytes: maxAnswerBytes,
        timeoutMs: patienceMs,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: unknown = JSON.parse(response.text);
      return { ok: response.ok, body: response.status === 401 ? { ...(answer as object), hint: refusedHint } : answer };
    } catch {
      return null;
    }
  };
  return {
    ...address,
    async isThere() {
      const found = await readAddress(file);
      return found?.pid === address.pid && found.startedAt === address.startedAt && isAlive(address.pid);
    },
    call: ask,
    events: (path, signal) => readEvents(new URL(path, address.url), { authorization, signal }),
    poke: async () => (await ask("POST", "/gateway/poke"))?.ok === true,
    async describe() {
      const answer = await ask("GET", "/gateway/describe");
      return answer?.ok === true ? (answer.body as { readonly gateway?: unknown }).gateway : null;
    },
    async readiness() {
      const answer = await ask("GET", "/readyz");
      if (answer === null) return { ready: false, reasons: ["It does not answer."] };
      const { error, reasons } = answer.body as { readonly error?: string; readonly reasons?: readonly string[] };
      return { ready: answer.ok, reasons: reasons ?? (error === undefined ? [] : [error]) };
    },
  };
}

/**
 * The configuration file of the gateway running on this state, if there is such a gateway and it was started with a
 * file.
 */
export function runningConfigFile(stateDirectory: string): string | undefined {
  try {
    const { pid, configFile } = JSON.parse(readFileSync(join(stateDirectory, addressFile), "utf8")) as Record<
      string,
      unknown
    >;
    return typeof pid === "number" && typeof configFile === "string" && isAlive(pid) ? configFile : undefined;
  } catch {
    return undefined;
  }
}

async function* readEvents(
  url: URL,
  { authorization, signal }: { readonly authorization: string; readonly signal: AbortSignal },
): AsyncGenerator<unknown> {
  const { createLineReader, fetchLimited } = await reading();
  const response = await fetchLimited(url, { headers: { authorization }, signal }, { maxBytes: maxAnswerBytes });
  let lines: string[] = [];
  // The response is limited, and its lines with it.
  const read = createLineReader((line) => lines.push(line), { maxChars: maxAnswerBytes, onTooLong: () => {} });
  let problem = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    if (!response.ok) {
      problem += chunk;
      continue;
    }
    read(chunk);
    const complete = lines;
    lines = [];
    for (const line of complete) if (line.startsWith("data: ")) yield parseExactJson(line.slice("data: ".length));
  }
  if (!response.ok)
    throw new Error((JSON.parse(problem) as { readonly error?: string }).error ?? `it answered ${response.status}`);
}

async function readAddress(file: string): Promise<Pick<RunningGateway, "url" | "pid" | "startedAt"> | null> {
  try {
    const { url, pid, startedAt } = JSON.parse(await readFile(file, "utf8")) as Partial<RunningGateway>;
    return typeof url === "string" && typeof pid === "number" && typeof startedAt === "number"
      ? { url, pid, startedAt }
      : null;
  } catch {
    return null;
  }
}

/** A killed gateway leaves its file behind, but its process is gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Throws `state_forbidden` if this user may not read the state directory, as without sudo beside a gateway with a user
 * of its own. Otherwise it would look as if there was no state and no gateway.
 */
export function requireAccess(directory: string): void {
  if (
    isForbidden(directory, constants.R_OK | constants.X_OK) ||
    isForbidden(join(directory, addressFile), constants.R_OK)
  )
    throw new HostError("state_forbidden", { directory });
}

export const isStateForbidden = (error: unknown): boolean =>
  error instanceof HostError && error.code === "state_forbidden";

/** A path that does not exist is not forbidden. */
function isForbidden(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" || code === "EPERM";
  }
}
