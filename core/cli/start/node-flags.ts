/**
 * Flags that Node accepts only at the start of a process. A gateway runs for months, so it starts its own process again
 * with them.
 */
import { availableParallelism } from "node:os";

/** Long-running commands; for all others a second start would only cost time. */
const staying = ["gateway", "dev"];
/** Options of every command that are followed by a value. */
const valued = ["--config", "--state"];
/**
 * Size limit of each half of V8's young generation, in megabytes; V8's own default is 32. A gateway's garbage is small
 * and short-lived, so a larger limit gains little and costs a busy minute twice the difference in memory. At 4, work
 * that waits for the disk moves to the old generation, and the gateway is a fifth slower.
 */
const youngHalf = "--max-semi-space-size";
const youngHalfMb = 8;
/**
 * Number of V8's threads for garbage collection and compilation. The default is four on every machine; on a small one
 * they take processor time from the main thread.
 */
const helpers = "--v8-pool-size";
const mostHelpers = 4;
/** The flags of a gateway's process. */
export const gatewayFlags: readonly string[] = [
  `${youngHalf}=${youngHalfMb}`,
  `${helpers}=${Math.min(mostHelpers, availableParallelism())}`,
];
/**
 * Makes glibc's allocator return freed memory. By default each thread gets its own heap, up to eight for each
 * processor, and the thresholds for returning memory grow with the allocations at the start. V8 compiles in blocks of
 * up to 32 kB. Inside a heap, one small live allocation keeps up to twenty megabytes around it. Other platforms ignore
 * these variables.
 */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "10000",
  // Below the kernel's own limit of mappings, which V8 needs too.
  MALLOC_MMAP_MAX_: "16384",
  MALLOC_TRIM_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "0",
};

/**
 * Replaces this process with one that has the flags, under the same process id. Returns if that is not necessary or not
 * possible.
 */
export function takeNodeFlags(argv: readonly string[]): void {
  const command = argv.find((word, index) => !word.startsWith("-") && !valued.includes(argv[index - 1] ?? ""));
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  // A parent that exchanges messages with this process uses a file descriptor that the next one would not have.
  if (command === undefined || !staying.includes(command) || given.includes(youngHalf) || process.connected === true)
    return;
  const flags = gatewayFlags.filter((flag) => !given.includes(flag.split("=")[0] ?? flag));
  // Not available on Windows. The rest of the command line is unchanged.
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...flags, ...process.argv.slice(1)], {
    ...allocatorEnvironment,
    ...process.env,
  });
}
