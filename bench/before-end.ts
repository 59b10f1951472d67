/** Cleanup for when this process ends, including by a signal: its gateways would otherwise keep running. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const duties = new Set<() => void>();

function doAll(): void {
  for (const duty of duties) duty();
  duties.clear();
}

/** Ends with the same signal as without a handler, so that the waiting process sees the cause. */
function onSignal(signal: NodeJS.Signals): void {
  doAll();
  unlisten();
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on("exit", doAll);
  for (const signal of signals) process.on(signal, onSignal);
}

function unlisten(): void {
  process.off("exit", doAll);
  for (const signal of signals) process.off(signal, onSignal);
}

/** `duty` must be quick and synchronous. Returns a function that cancels it. */
export function beforeEnd(duty: () => void): () => void {
  if (duties.size === 0) listen();
  duties.add(duty);
  return () => {
    if (duties.delete(duty) && duties.size === 0) unlisten();
  };
}
