/** Ends a command that has received a signal, after it has put things in order. */

/** For the command. */
const graceMs = 5_000;

/** Signals end the process as usual until the command reads its `signal`. */
export function createStop(): { signal(): AbortSignal; forget(): void } {
  const stopping = new AbortController();
  let listens = false;
  const stop = () => {
    forget();
    setTimeout(() => process.exit(1), graceMs).unref();
    stopping.abort();
  };
  const forget = () => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  };
  return {
    signal() {
      if (!listens) {
        listens = true;
        process.once("SIGINT", stop);
        process.once("SIGTERM", stop);
      }
      return stopping.signal;
    },
    forget,
  };
}
