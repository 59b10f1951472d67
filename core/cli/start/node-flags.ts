/** Flags that Node takes only at the start of a process: a gateway, which runs for months, starts its own process again with them. */
import { availableParallelism } from "node:os";

/** Commands that stay; for all others a second start would be time and nothing else. */
const staying = ["gateway", "dev"];
/** Options of every command that are followed by a value. */
const valued = ["--config", "--state"];
/**
 * What V8 lets each half of the young generation grow to, in megabytes; its own choice is 32. A gateway's garbage is small and dies soon, so
 * that a larger one saves it little, and a busy minute takes twice the difference of the machine. At 4, work that waits for the disk grows
 * old in it, and a fifth of the speed is gone.
 */
const youngHalf = "--max-semi-space-size";
const youngHalfMb = 8;
/**
 * Threads on which V8 collects garbage and compiles. Its own choice is four on every machine: on a small one they take the processor from
 * the thread for which they work.
 */
const helpers = "--v8-pool-size";
const mostHelpers = 4;
/**
 * What glibc's allocator keeps of memory that was freed: it gives each thread a heap of its own, up to eight for a processor, and lets the
 * thresholds above which it gives back grow with what it sees at the start. V8 compiles in pieces of up to 32 kB; inside a heap, one small
 * thing that lives on keeps what was around it, up to twenty megabytes. Elsewhere they mean nothing.
 */
const allocator = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "10000",
  // The kernel has a limit of its own, which V8 needs too.
  MALLOC_MMAP_MAX_: "16384",
  MALLOC_TRIM_THRESHOLD_: "65536",
  MALLOC_TOP_PAD_: "0",
};

/** Replaces this process by one with the flags, under the same process id; returns where that is not needed or not possible. */
export function takeNodeFlags(argv: readonly string[]): void {
  const command = argv.find((word, index) => !word.startsWith("-") && !valued.includes(argv[index - 1] ?? ""));
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  // A parent that talks to this process by messages does so over a file that the next one would not have.
  if (command === undefined || !staying.includes(command) || given.includes(youngHalf) || process.connected === true) return;
  const flags = [`${youngHalf}=${youngHalfMb}`];
  if (!given.includes(helpers)) flags.push(`${helpers}=${Math.min(mostHelpers, availableParallelism())}`);
  // Not on Windows. The rest of the command line is as it was.
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...flags, ...process.argv.slice(1)], {
    ...allocator,
    ...process.env,
  });
}
