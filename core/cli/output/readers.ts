/** Handles the end of the program that reads the output, such as a pager. */

/** In `service logs | head`, the reader closes the pipe early, and the command ends. `serve` makes it go on instead. */
export function watchReaders({ stdout, stderr }: Pick<NodeJS.Process, "stdout" | "stderr">): { serve(): void } {
  let isServing = false;
  stdout.on("error", (error: NodeJS.ErrnoException) => isServing || process.exit(error.code === "EPIPE" ? 0 : 1));
  stderr.on("error", () => {});
  return {
    /** A gateway goes on without a reader, and on a full disk: it has its log. */
    serve() {
      isServing = true;
    },
  };
}
