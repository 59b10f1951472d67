/** What must be done before this process ends, when it is ended from outside as well: its gateways would go on for ever. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const duties = new Set<() => void>();

function doAll(): void {
  for (const duty of duties) duty();
  duties.clear();
}

/** Ends as it would have ended without us, so that whoever waits for this process learns by what. */
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

/** Must be quick and wait for nothing. Returns how to call it off. */
export function beforeEnd(duty: () => void): () => void {
  if (duties.size === 0) listen();
  duties.add(duty);
  return () => {
    if (duties.delete(duty) && duties.size === 0) unlisten();
  };
}
